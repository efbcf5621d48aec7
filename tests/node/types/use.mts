// What a harness in TypeScript may write, and what it may not. Compiled, never run.

import {
  createMcpResolver,
  FailoverSlot,
  openRun,
  Redactor,
  Run,
  SDK_VERSION,
  SlotNotFilledError,
  VerifiError,
  collectRunSecrets,
  readJournal,
  redact,
  type CallOptions,
  type Ledger,
  type Manifest,
  type McpSlot,
  type Outcome,
  type RunEvent,
  type ToolResult,
  verifyJournal,
} from 'verifi';

const manifest: Manifest = {
  runId: 'r1',
  slotFills: {
    kali: { endpoint: 'http://a', fallback: ['http://b', { endpoint: 'http://c' }], replay: 'safe' },
    recon: 'http://d',
  },
};

export async function use(): Promise<void> {
  await using run: Run = openRun(manifest, { timeoutMs: 1, onEvent: (event: RunEvent) => run.log(event.kind) });
  const kali: FailoverSlot = run.mcp('kali');
  const slot: McpSlot = kali;
  const options: CallOptions = { timeoutMs: 1, onProgress: ({ progress, total }) => void (progress + (total ?? 0)) };
  const result: ToolResult = await slot.call('run_command', { command: 'id', workspace: run.runId }, options);
  const text: string = result.ok ? result.text : (result.error ?? 'failed');
  const outcome: Outcome = result.outcome;
  const raw: unknown = result.raw;
  const ledger: Ledger = run.ledger();
  const calls: number | undefined = ledger.slots['kali']?.tools['run_command']?.toolCalls;
  for await (const event of run.events({ from: 1 })) {
    if (event.kind === 'mcp.fallback_used') break;
  }
  const names: string[] = await kali.listTools({ timeoutMs: 5 });
  const schema = (await kali.toolDefinitions())[0]?.inputSchema;
  const { ok, fault } = await verifyJournal('run.jsonl');
  void [ok, fault?.line, run.ledger().journalError, openRun(manifest, { journal: 'run.jsonl', sync: 'always' })];
  for await (const event of readJournal('run.jsonl')) {
    const seen: RunEvent = event;
    if (seen.callId === 1) break;
  }
  void [text, outcome, raw, calls, names, schema, kali.health()[0]?.state];
}

// The old SDK's own interface: a double of it in a harness's tests still fits.
interface OldSlot {
  readonly slot: string;
  readonly endpoint: string;
  listTools(): Promise<string[]>;
  call(tool: string, args?: Record<string, unknown>): Promise<ToolResult>;
}
const resolve: (slot: string) => McpSlot = createMcpResolver({ manifest, timeoutMs: 600_000 });
const old: OldSlot = resolve('kali');
const back: McpSlot = old;

const secrets: string[] = collectRunSecrets({ A_TOKEN: 'x', B: undefined });
const clean: string = redact(new Redactor(secrets).redact('text'), secrets);
const version: string = SDK_VERSION;
const error: VerifiError = new SlotNotFilledError('why');
const code: 'slot_not_filled' = new SlotNotFilledError('why').code;
void [back, clean, version, error, code];

// @ts-expect-error: there is no such option.
openRun(manifest, { timeoutSeconds: 1 });
// @ts-expect-error: a manifest has a run id.
openRun({ slotFills: {} });
// @ts-expect-error: a slot comes from a run.
new FailoverSlot();
// @ts-expect-error: nor is a run made so.
new Run();
// @ts-expect-error: arguments are an object.
old.call('tool', 'text');
