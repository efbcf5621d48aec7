/**
 * The one metered way from a security-scan harness to its tools: open a run, take a slot, call tools on it.
 *
 * Everything may be used in worker threads, too; a run and what comes from it stay in the thread that opened it.
 *
 * @packageDocumentation
 */

/// <reference lib="esnext.disposable" />

/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue };

/** What the platform bound to a run. Members that are not listed are ignored. */
export interface Manifest {
  /** The run's id; not empty. */
  runId: string;
  /** Slot → what fills it. */
  slotFills?: Record<string, SlotFill>;
  /** Slot → URL: the older, flat form. `slotFills` comes first. */
  endpoints?: Record<string, string>;
  [other: string]: unknown;
}

/** The servers behind a slot: an `http` or `https` URL, or that and more. */
export type SlotFill = string | (SlotServer & {
  /** What becomes of a call on this slot whose answer was lost, whatever the run says. */
  replay?: Replay;
});

/** A server, and those to go on with when it dies. */
export interface SlotServer {
  /** Its URL. `/mcp` is added unless the path ends in it. */
  endpoint: string;
  /** The next server, or several, in the order in which they are tried. */
  fallback?: string | SlotServer | (string | SlotServer)[];
  /**
   * Headers for every request to this server. `${env:NAME}` stands for the value of that environment variable, which
   * must be set. The values are secrets, and scrubbed. The protocol's own headers cannot be set.
   */
  headers?: Record<string, string>;
  /** Where the tokens come from that go with every request to this server. No `authorization` header stands beside it. */
  auth?: ClientCredentials;
  /**
   * The MCP revision to ask for, in place of `2024-11-05`. `2026-07-28` knows no handshake: the server is spoken to in it
   * at once.
   */
  protocolVersion?: string;
  [other: string]: unknown;
}

/**
 * OAuth 2.0's client credentials (RFC 6749, section 4.4). `${env:NAME}` stands for an environment variable, as in
 * {@link SlotServer.headers}. The secret, and each token that comes, are scrubbed.
 */
export interface ClientCredentials {
  /** The token endpoint: an `http` or `https` URL. Nobody else is sent the two that follow. */
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  /** What the tokens are to be good for: words with spaces between them. */
  scope?: string;
  [other: string]: unknown;
}

/**
 * What becomes of a call that may have run on one server when its answer was lost: it goes to the next server
 * (`always`), or only if the tool says of itself that it is read-only or idempotent (`safe`).
 */
export type Replay = 'always' | 'safe';

/** The options of a run. A member of any other name is an {@link OptionsError}. */
export interface RunOptions {
  /**
   * How long a call may take, in milliseconds, failover aside: each further server has this long again. A whole number,
   * at least 1.
   * @defaultValue 300000
   */
  timeoutMs?: number;
  /**
   * How many bytes an answer may have, decompressed. A larger one is refused as it comes. A JavaScript string holds
   * half a GiB at the most.
   * @defaultValue 268435456
   */
  maxResponseBytes?: number;
  /** Values to scrub, beside those of the environment and of the manifest. */
  secrets?: readonly string[];
  /**
   * What a server is told that wants to ask the user something: no, or yes with its own defaults.
   * @defaultValue `'decline'`
   */
  elicitation?: 'decline' | 'defaults';
  /** @defaultValue `'always'` */
  replay?: Replay;
  /**
   * How long after it died a slot's first server is tried again in the background, and how often from then on, in
   * milliseconds. Never unless set.
   */
  retryPrimaryAfterMs?: number;
  /**
   * The file that holds the run's events, one line of JSON each, written before its effect: a call is in it before it is
   * sent. A file that is there already must be of this run, which then goes on where it ended. Only its owner can read it.
   */
  journal?: string;
  /**
   * When the journal is forced onto the disk: never, when the run is closed, or with each event.
   * @defaultValue `'none'`
   */
  sync?: 'none' | 'finish' | 'always';
  /**
   * Called for each event since the run was opened, the first included, in order. Those of a call come before its result. What it
   * throws, or rejects with, becomes a process warning, once, and changes nothing else. It does not keep the process
   * alive.
   */
  onEvent?: (event: RunEvent) => void;
}

/** The part of an `AbortSignal` that is used. Any number of calls may share one, at once and one after another. */
export interface CallSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** What a single list of tools may choose. */
export interface ListOptions {
  /** How long each server may take, in milliseconds, in place of the run's own limit. A whole number, at least 1. */
  timeoutMs?: number;
  /** Cancels it. */
  signal?: CallSignal;
}

/** What a single call may choose. A member of any other name makes a call that is rejected. */
export interface CallOptions extends ListOptions {
  /**
   * Called for each notice of progress, before the call has its result. Without it the server is not asked to tell.
   * What it throws becomes a process warning, once.
   */
  onProgress?: (progress: Progress) => void;
}

/** What a server says of a call that is under way. */
export interface Progress {
  /** How far it is. It grows with each notice. */
  progress: number;
  /** Where it will end, if the server knows. */
  total?: number;
  /** What it is doing, scrubbed. */
  message?: string;
}

/**
 * How a call ended: the tool ran (`ok`), ran and failed (`tool_error`), the server answered with an error (`refused`);
 * no answer came (`unreachable`), not in time (`timed_out`), the harness cancelled it (`cancelled`), or verifi did not
 * send it or did not take its answer (`rejected`).
 */
export type Outcome = 'ok' | 'tool_error' | 'refused' | 'unreachable' | 'timed_out' | 'cancelled' | 'rejected';

/** Which of a slot's servers: the first, or any of the others. */
export type ServerRole = 'primary' | 'fallback';

/** The result of a call. There is one for every call, whatever happened; all text in it is scrubbed. */
export interface ToolResult {
  /** The tool ran and answered. False means it refused, errored, or was unreachable. */
  ok: boolean;
  /** Text content of the answer: text blocks as they are, others as compact JSON, joined by LF. */
  text: string;
  /** True when the SERVER reported the failure: a tool error, or a refusal. False when no answer came. */
  isError: boolean;
  /** How long the whole call took, in milliseconds with fractions, failover included. */
  latencyMs: number;
  /** What went wrong. Set exactly when `ok` is false. */
  error?: string;
  /**
   * The JSON-RPC result or error object. Parsed when it is first asked for. Absent when there was no response. Numbers
   * are JavaScript's: see {@link rawJson}.
   */
  readonly raw?: unknown;
  /** The text of {@link raw}, with every digit of its numbers. Not in copies of the result, nor in its JSON. */
  readonly rawJson?: string;
  /** How the call ended. */
  outcome: Outcome;
  /** Which server answered. Absent when none did. */
  server?: ServerRole;
  /** The call was sent and its fate is unknown: the tool may have run, or still run. */
  mayHaveRun: boolean;
  /** How many occurrences of secrets were replaced in `text`, or in `error` when there is no text. */
  redactions: number;
}

/** A named capability of a run. */
export interface McpSlot {
  readonly slot: string;
  /** The MCP endpoint of the first server, with its query. */
  readonly endpoint: string;
  /**
   * The names of the tools.
   * @throws {@link ListToolsError} (as a rejection) when no server gave a list, with each one's cause in order.
   */
  listTools(options?: ListOptions): Promise<string[]>;
  /**
   * Calls a tool. The promise never rejects: what failed is in the result. The call begins at once, on a thread of
   * verifi's own, and keeps the process alive until it ends.
   * @param args - What JSON can hold. Members that are `undefined` are left out; a BigInt, a cycle or a function makes
   * a call that is rejected. They are not changed, and not scrubbed.
   */
  call(tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
}

/** What {@link Run.mcp} gives: a slot and its servers. When one dies the calls go on with the next. */
export class FailoverSlot implements McpSlot {
  private constructor();
  readonly slot: string;
  readonly endpoint: string;
  listTools(options?: ListOptions): Promise<string[]>;
  /**
   * The whole definitions of the tools, scrubbed.
   * @throws {@link ListToolsError} as {@link listTools} does.
   */
  toolDefinitions(options?: ListOptions): Promise<ToolDefinition[]>;
  call(tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  /** What is known of each server, in the order in which they are tried. */
  health(): ServerHealth[];
}

/** A tool as its server defines it. */
export interface ToolDefinition {
  name: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  /** The text of the definition, with every digit of its numbers. Not enumerable. */
  readonly rawJson: string;
  [other: string]: unknown;
}

/** What is known of a server. */
export interface ServerHealth {
  server: ServerRole;
  /** Its MCP endpoint, without the query. */
  endpoint: string;
  state: 'unused' | 'healthy' | 'dead';
  /** Since when, in RFC 3339. */
  since?: string;
  /** Why it is dead. */
  reason?: string;
  /** The MCP revision that was agreed on, or that the server has shown to speak. */
  protocolVersion?: string;
}

/** What was used. */
export interface Usage {
  /** Calls that were put to a server; a failover is two. */
  toolCalls: number;
  /** How many of them failed. */
  failures: number;
  /** UTF-8 length of the text that tools returned, scrubbed. */
  evidenceBytes: number;
  /** Summed latency in milliseconds. */
  latencyMs: number;
}

/** What a run has used: in all, for each slot, and for each of its tools. */
export interface Ledger extends Usage {
  runId: string;
  /** Why the journal could not be written, if that ever happened. */
  journalError?: string;
  slots: Record<string, Usage & { tools: Record<string, Usage> }>;
}

/** What an event says. */
export type EventKind =
  | 'run_started'
  | 'call_started'
  | 'call_finished'
  | 'tool_error'
  | 'mcp.fallback_used'
  | 'mcp.no_healthy_tool'
  | 'mcp.primary_restored'
  | 'log'
  | 'run_finished'
  | 'journal_failed';

/** One event of a run's timeline. Its text is scrubbed, and URLs in it have no query. */
export interface RunEvent {
  /** 1 for the first event, then one more each time. */
  seq: number;
  /** RFC 3339, UTC, milliseconds. */
  ts: string;
  runId: string;
  kind: EventKind;
  slot?: string;
  tool?: string;
  /** Of a call to a server: the `seq` of its `call_started`. */
  callId?: number;
  server?: ServerRole;
  endpoint?: string;
  /** Of `mcp.fallback_used`: the endpoint that the slot goes on with. */
  fallback?: string;
  outcome?: Outcome;
  /** In milliseconds. */
  latencyMs?: number;
  evidenceBytes?: number;
  /** Of `call_finished`: the revision of MCP that the call was made in. */
  protocolVersion?: string;
  error?: string;
  /** Of `log`: the harness's line, or what verifi has to say of a server. */
  message?: string;
}

/** One scan job. It can stand where the older SDK passed `ctx`. */
export class Run {
  private constructor();
  /** The run's id, as the manifest has it. */
  readonly runId: string;
  /**
   * The slot of that name: always the same object.
   * @throws {@link SlotNotFilledError} when the manifest has no server for it.
   */
  mcp(slot: string): FailoverSlot;
  /** Puts a line of the harness's own on the timeline, scrubbed. On a closed run it does nothing. */
  log(line: string): void;
  /** What the run has used so far. It only ever grows. */
  ledger(): Ledger;
  /** The latest 10,000 events, in order; of a run that goes on from its journal, those of before too. */
  timeline(): RunEvent[];
  /**
   * The events since the run was opened, those of the past first, as far as they are kept, until it is closed. A reader that falls
   * more than 10,000 events behind loses the oldest, which shows as a gap in `seq`. Waiting for an event does not keep
   * the process alive, and holds up no call.
   * @param options - `from`: the `seq` to begin with, in place of that of the first event since the run was opened.
   */
  events(options?: { from?: number }): AsyncIterableIterator<RunEvent>;
  /**
   * Ends the run: calls under way come back as cancelled, later ones as rejected, and the sessions with the servers are
   * ended. Takes 2 s at the most. Ledger and timeline can still be read. The promise never rejects; every call of this
   * gives the same one.
   */
  close(): Promise<void>;
  /** {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
  /** Begins to {@link close}, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Opens a run. It connects to nothing yet.
 *
 * Its secrets are those of `process.env` (see {@link collectRunSecrets}), of `options.secrets` and of the manifest's
 * headers, and its client secrets with the tokens that come for them. Close it: a run that is left open ends with the
 * process or the worker, and its servers may not hear of it.
 * @param manifest - The manifest, or its JSON text.
 * @throws {@link ManifestError} and {@link OptionsError}: the message names the member and what is wrong with it.
 * {@link JournalError} when the journal cannot be opened, is in use, belongs to another run, or does not hold.
 */
export function openRun(manifest: Manifest | string, options?: RunOptions): Run;

/** What came of checking a journal. */
export interface Verification {
  /** How many events hold: those before the first fault. */
  events: number;
  /** How many the file itself says it lacks: they happened while it could not be written. */
  missing: number;
  /** Whether the whole file holds. */
  ok: boolean;
  /** The hash of the last line that holds. Kept elsewhere, it shows later whether lines were cut off at the end. */
  head: string;
  /** The first fault; lines are counted from 1. */
  fault?: { line: number; what: string };
}

/**
 * Checks a journal from its first line to its last, on a thread of verifi's own. One that is being written may be checked,
 * too. That it does not hold is no error: the result says so.
 * @throws {@link JournalError} (as a rejection) when the file cannot be read.
 */
export function verifyJournal(path: string): Promise<Verification>;

/**
 * The events of a journal in order, each checked before it is given. It needs no run, and a journal that is being written
 * may be read, too: the loop then ends where the file ends by the time it has come there.
 *
 * The file is opened by the first `next`, is read on threads of verifi's own some events at a time, as they are asked for,
 * and is closed when the loop ends, however it does. Memory does not grow with it. The process is kept alive only while
 * something is read.
 * @throws {@link JournalError} (as a rejection of `next`) when the file cannot be read, and, after the events before it,
 * for the first line that does not hold; a last line that was not written to its end is one.
 */
export function readJournal(path: string): AsyncGenerator<RunEvent, void, undefined>;

/** What gives slots by their names, and the run that they belong to. */
export interface McpResolver {
  /** @throws {@link SlotNotFilledError} when the manifest has no server for it. */
  (slot: string): FailoverSlot;
  /** For its ledger, its timeline, and to close it. */
  readonly run: Run;
}

/**
 * Opens a run and gives what resolves its slots.
 * @throws {@link ManifestError} and {@link OptionsError}, as {@link openRun} does.
 */
export function createMcpResolver(options: RunOptions & { manifest: Manifest | string }): McpResolver;

/**
 * The text with `[REDACTED]` in the place of every occurrence of every secret, as they stand; occurrences that overlap
 * are replaced together. Secrets that are blank, shorter than 4 characters or part of `[REDACTED]` are skipped.
 */
export function redact(text: string, secrets: readonly string[]): string;

/** Takes the same secrets out of any number of texts, as {@link redact} does, at the cost of the texts alone. */
export class Redactor {
  constructor(secrets: readonly string[]);
  redact(text: string): string;
}

/**
 * The values of an environment that are secrets: those whose variable's name looks like a secret's, and the passwords
 * in URLs. Placeholders such as `disabled` or `none` are not, nor is what is shorter than 4 characters.
 * @param env - `process.env` unless given.
 */
export function collectRunSecrets(env?: Readonly<Record<string, string | undefined>>): string[];

/** The version that verifi names in the MCP handshake. It is not the package's: see {@link VERSION}. */
export const SDK_VERSION: string;

/** The version of this package. */
export const VERSION: string;

/** What kind of thing failed. */
export type ErrorCode = 'manifest' | 'options' | 'slot_not_filled' | 'list_tools' | 'journal';

/** An error of everything that is not a tool call. Its message is complete, and holds no secrets. */
export class VerifiError extends Error {
  protected constructor(code: ErrorCode, message: string);
  readonly code: ErrorCode;
}

/** The manifest is not one: the message names the member and what is wrong with it. */
export class ManifestError extends VerifiError {
  constructor(message: string);
  readonly code: 'manifest';
}

/** An option of the run is not one: the message names it. */
export class OptionsError extends VerifiError {
  constructor(message: string);
  readonly code: 'options';
}

/** The manifest has no server for the slot. */
export class SlotNotFilledError extends VerifiError {
  constructor(message: string);
  readonly code: 'slot_not_filled';
}

/** No server of the slot gave a list of its tools. */
export class ListToolsError extends VerifiError {
  constructor(message: string);
  readonly code: 'list_tools';
}

/** A journal cannot be opened or read, or does not hold: the message names the file, and the line. */
export class JournalError extends VerifiError {
  constructor(message: string);
  readonly code: 'journal';
}
