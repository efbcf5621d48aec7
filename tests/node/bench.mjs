// What a call costs beside Rust's and beside the official TypeScript client's, on one server, taken in turns since such
// figures drift: `bench.mjs [--check]`. With `--check` it fails when a limit is passed.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { openRun } from 'verifi';
import { withServer } from './server.mjs';

const TURNS = 11;
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

async function official(url) {
  const { Client } = await load('client/index.js');
  const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  return { call: () => client.callTool({ name: 'any', arguments: { n: 1 } }), close: () => client.close() };
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
  const clients = { ours: verifi(url), theirs: await official(url), rust: rust(url) };
  const { ours, theirs } = clients;
  const latency = await inTurns({
    rust: clients.rust.turn,
    verifi: () => sequential(ours.call),
    official: () => sequential(theirs.call),
  });
  const rate = await inTurns({ verifi: () => throughput(ours.call), official: () => throughput(theirs.call) });
  for (const client of Object.values(clients)) {
    await client.close();
  }
  return { latency, rate };
}

function report({ latency, rate }) {
  const figures = {
    overRust: latency.verifi - latency.rust,
    ofOfficial: latency.verifi / latency.official,
    throughput: rate.verifi / rate.official,
  };
  const us = (value) => `${value.toFixed(0)} µs`;
  console.log(`${process.version}, a sequential call: Rust ${us(latency.rust)}, verifi ${us(latency.verifi)}, official ${us(latency.official)}`);
  console.log(`  ${us(figures.overRust)} more than Rust (limit ${LIMITS.overRust}), ${figures.ofOfficial.toFixed(2)} of the official client (limit ${LIMITS.ofOfficial})`);
  console.log(`${WIDTH} at once: verifi ${rate.verifi.toFixed(0)}/s, official ${rate.official.toFixed(0)}/s: ${figures.throughput.toFixed(1)} times (limit ${LIMITS.throughput})`);
  const holds =
    figures.overRust <= LIMITS.overRust && figures.ofOfficial <= LIMITS.ofOfficial && figures.throughput >= LIMITS.throughput;
  return holds || !process.argv.includes('--check');
}

await withServer(
  async (server) => {
    process.exitCode = report(await measure(server)) ? 0 : 1;
  },
  { prebuilt: { bytes: 64 } },
);
