// What a call costs beside Rust's and beside the official TypeScript client's, on one server, taken in turns since such
// figures drift: `bench.mjs [--check]`. With `--check` it fails when a limit is passed.
//
// On a virtual machine it costs more to wake a core than to make a call, and which cores the system picks is chance: so
// client and server are put on the same core, and on a core each, where the limits hold. What it does by itself is shown.

import { execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { openRun } from 'verifi';
import { withServer } from './server.mjs';

const PLACES = [
  { name: 'client and server on one core', client: '0', server: '0', limits: ['overRust', 'ofOfficial', 'throughput'] },
  { name: 'a core each', client: '0', server: '1', limits: ['overRust', 'ofOfficial', 'throughput'] },
  { name: 'wherever the system puts them', client: '0,1', server: '0,1', limits: ['ofOfficial', 'throughput'] },
];
const TURNS = 9;
const CALLS = 400;
const WIDTH = 64;
const WAVES = 20;

const LIMITS = { overRust: 60, ofOfficial: 0.5, throughput: 2 };

const tools = createRequire(process.env.VERIFI_TOOLS);
const load = (path) => import(pathToFileURL(tools.resolve(`@modelcontextprotocol/sdk/${path}`)).href);

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** The median of so many calls, one after another, in microseconds. */
async function sequential(call) {
  const times = [];
  for (let i = 0; i < CALLS; i += 1) {
    const begin = performance.now();
    await call();
    times.push((performance.now() - begin) * 1000);
  }
  return median(times);
}

/** Calls per second with so many under way at any time. */
async function throughput(call) {
  const begin = performance.now();
  const worker = async () => {
    for (let i = 0; i < WAVES; i += 1) {
      await call();
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
  return (WIDTH * WAVES * 1000) / (performance.now() - begin);
}

function verifi(url) {
  const run = openRun({ runId: 'bench', slotFills: { kali: url } });
  const kali = run.mcp('kali');
  const call = async () => {
    const result = await kali.call('any', { n: 1 });
    if (!result.ok) {
      throw new Error(result.error);
    }
  };
  return { call, close: () => run.close() };
}

/** Does `work` with a call of the official client's. It is made anew each turn: it leaves a listener behind per call. */
async function official(url, work) {
  const { Client } = await load('client/index.js');
  const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  const result = await work(() => client.callTool({ name: 'any', arguments: { n: 1 } }));
  await client.close();
  return result;
}

function rust(url) {
  const child = spawn(process.env.VERIFI_SEQUENTIAL, [url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const turn = async () => {
    child.stdin.write(`${CALLS}\n`);
    return Number((await lines.next()).value);
  };
  return { turn, close: () => child.stdin.end() };
}

async function inTurns(ways) {
  const results = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let turn = 0; turn <= TURNS; turn += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const value = await way();
      // The first turn warms up.
      if (turn > 0) {
        results[name].push(value);
      }
    }
  }
  return Object.fromEntries(Object.entries(results).map(([name, values]) => [name, median(values)]));
}

async function measure({ url }) {
  const ours = verifi(url);
  const inRust = rust(url);
  const latency = await inTurns({
    rust: inRust.turn,
    verifi: () => sequential(ours.call),
    official: () => official(url, sequential),
  });
  const rate = await inTurns({ verifi: () => throughput(ours.call), official: () => official(url, throughput) });
  await ours.close();
  inRust.close();
  return { latency, rate };
}

function report({ name, limits }, { latency, rate }) {
  const figures = {
    overRust: latency.verifi - latency.rust,
    ofOfficial: latency.verifi / latency.official,
    throughput: rate.verifi / rate.official,
  };
  const us = (value) => `${value.toFixed(0)} µs`;
  const limit = (figure) => (limits.includes(figure) ? `limit ${LIMITS[figure]}` : 'no limit');
  console.log(`${process.version}, ${name}`);
  console.log(`  a sequential call: Rust ${us(latency.rust)}, verifi ${us(latency.verifi)}, official ${us(latency.official)}`);
  console.log(`  ${us(figures.overRust)} more than Rust (${limit('overRust')}), ${figures.ofOfficial.toFixed(2)} of the official client (${limit('ofOfficial')})`);
  console.log(`  ${WIDTH} at once: verifi ${rate.verifi.toFixed(0)}/s, official ${rate.official.toFixed(0)}/s: ${figures.throughput.toFixed(1)} times (${limit('throughput')})`);
  const holds = {
    overRust: figures.overRust <= LIMITS.overRust,
    ofOfficial: figures.ofOfficial <= LIMITS.ofOfficial,
    throughput: figures.throughput >= LIMITS.throughput,
  };
  return limits.every((figure) => holds[figure]);
}

/** Puts a process, with all its threads and those that it will start, on some cores. */
function pin(pid, cores) {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, `${pid}`], { stdio: 'ignore' });
}

async function benchAt(place, server) {
  pin(server.pid, place.server);
  pin(process.pid, place.client);
  return report(place, await measure(server));
}

await withServer(
  async (server) => {
    const results = [];
    for (const place of PLACES) {
      results.push(await benchAt(place, server));
    }
    process.exitCode = results.every(Boolean) || !process.argv.includes('--check') ? 0 : 1;
  },
  { prebuilt: { bytes: 64 } },
);
