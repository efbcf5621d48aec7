// A sweep as the production ASM harness writes it, on two servers of which the first is killed half way: `make demo-node`.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { openRun, type Run as HarnessContext, type RunEvent } from 'verifi';

/** The harness: its `run` is as it was for the older SDK, but for the import. */
const harnessOf = (commands: string[], halfWay: () => Promise<void>) => ({
  async run(ctx: HarnessContext) {
    const kali = ctx.mcp('kali');

    const exec = async (command: string, timeoutMs: number) => {
      const timeoutS = Math.min(Math.max(1, Math.ceil(timeoutMs / 1000)), 285);
      const res = await kali.call('run_command', { command, timeout: timeoutS, workspace: ctx.runId });
      const raw = res.ok ? res.text : (res.error ?? 'run_command failed');
      // run_command returns "$ <cmd>\n(exit <N>)\n<real output>" — unwrap it, and use
      // the TOOL's exit code, not the MCP call's success.
      const m = raw.match(/^\$ [^\n]*\n\(exit (-?\d+)\)\n([\s\S]*)$/);
      if (m) return { output: m[2]!, ok: Number(m[1]) === 0 };
      return { output: raw, ok: res.ok };
    };

    for (const [index, command] of commands.entries()) {
      if (index === commands.length / 2) await halfWay();
      const { output, ok } = await exec(command, 60_000);
      ctx.log(`${command}: ${ok ? '' : 'failed: '}${output.trim().split('\n', 1)[0]}`);
    }
  },
});

const COMMANDS = [
  'uname -sr',
  'openssl version',
  'cat target.conf',
  'openssl base64 -A -in target.conf',
  'getent hosts localhost',
  'cat no-such-file',
  'nmap -sV localhost',
  'date -u',
];

/** The program that has the demo's servers, as `make demo-node` names it. */
async function startServers(program: string) {
  const servers = spawn(program, ['serve'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: servers.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => (await lines.next()).value;
  const { primary, fallback, secret } = JSON.parse(await nextLine());
  const killPrimary = async () => {
    servers.stdin.write('kill\n');
    await nextLine();
  };
  return { primary, fallback, secret, killPrimary, stop: () => servers.stdin.end() };
}

function show(event: RunEvent): void {
  const time = event.ts.slice(11, 23);
  switch (event.kind) {
    case 'call_finished':
      console.log(time, event.slot, event.server?.padEnd(8), event.tool, event.outcome, `${event.latencyMs} ms`, `${event.evidenceBytes ?? 0} B`);
      break;
    case 'log':
      console.log(' '.repeat(12), event.message);
      break;
    case 'mcp.fallback_used':
      console.log(time, `! ${event.slot} goes on with ${event.fallback}: ${event.error}`);
      break;
  }
}

function check(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

async function main(): Promise<void> {
  const servers = await startServers(process.argv[2]!);
  // The name says that it is a secret, so the run takes it out of everything by itself.
  process.env.SCANNER_TOKEN = servers.secret;
  const manifest = { runId: 'sweep-1', slotFills: { kali: { endpoint: servers.primary, fallback: servers.fallback } } };
  const run = openRun(manifest, { onEvent: show });
  await harnessOf(COMMANDS, servers.killPrimary).run(run);
  await run.close();
  servers.stop();

  const { toolCalls, failures, evidenceBytes, latencyMs, slots } = run.ledger();
  console.log('\nledger:', { toolCalls, failures, evidenceBytes, latencyMs });
  console.table(slots['kali']?.tools);
  const timeline = run.timeline();
  check(timeline.filter((event) => event.kind === 'mcp.fallback_used').length === 1, 'the failover was not announced once');
  // A failover is two calls.
  check(toolCalls === COMMANDS.length + 1, 'the ledger does not add up');
  check(!JSON.stringify(timeline).includes(servers.secret), 'the secret was not scrubbed');
  console.log('one failover, announced; the secret replaced everywhere');
}

await main();
