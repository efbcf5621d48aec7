// The scripted server, and programs that use the installed package, as processes of their own.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { openRun } from 'verifi';

/** The lines of a stream, one at a time. */
async function* linesOf(stream) {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    yield* lines;
  }
}

class Server {
  #process;
  #lines;

  static async start(script = {}) {
    const server = new Server();
    server.#process = spawn(process.env.VERIFI_SERVER, ['-'], { stdio: ['pipe', 'pipe', 'inherit'] });
    server.#lines = linesOf(server.#process.stdout);
    server.#write(script);
    const { url } = await server.#read();
    server.url = url;
    return server;
  }

  get pid() {
    return this.#process.pid;
  }

  /** A command of `tests/README.md`. */
  async command(command) {
    this.#write(command);
    const { ok, error } = await this.#read();
    if (error) {
      throw new Error(error);
    }
    return ok;
  }

  /** So many calls have arrived. */
  arrived(count) {
    return this.command({ await: { request: { rpc: 'tools/call' }, count } });
  }

  async requests(rpc) {
    const { requests } = await this.command({ do: 'record' });
    return requests.filter((request) => request.rpc === rpc);
  }

  async stop() {
    const ended = once(this.#process, 'exit');
    this.#process.stdin.end();
    await ended;
  }

  #write(value) {
    this.#process.stdin.write(`${JSON.stringify(value)}\n`);
  }

  async #read() {
    const { value } = await this.#lines.next();
    return JSON.parse(value);
  }
}

/** Runs `work` with a server and a run whose slot `kali` it fills; both end after it. */
export async function withRun(work, { script, options, more } = {}) {
  await withServer(async (server) => {
    const run = openRun({ runId: 'r1', slotFills: { kali: server.url, ...more } }, options);
    try {
      await work({ server, run, kali: run.mcp('kali') });
    } finally {
      await run.close();
    }
  }, script);
}

export async function withServer(work, script) {
  const server = await Server.start(script);
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}

/**
 * Runs a program beside this file to its end, after flags of Node: its status, what it wrote, and when it ended. One
 * that does not end in five minutes is killed, and has a signal.
 */
export function program(...args) {
  const options = { timeout: 300_000, killSignal: 'SIGKILL', cwd: fileURLToPath(new URL('.', import.meta.url)) };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const status = error ? (error.code ?? null) : 0;
      resolve({ status, signal: error?.signal ?? null, stdout, stderr, endedAt: Date.now() });
    });
  });
}
