// What verifi may cost the process that it is in.

import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { program, withRun, withServer } from './server.mjs';

const CALLS = 20_000;
const ROUNDS = 3;
const THIS = fileURLToPath(import.meta.url);

/** The longest of a few times, in milliseconds. */
async function longest(work) {
  let most = 0;
  for (let i = 0; i < 20; i += 1) {
    const begin = performance.now();
    await work();
    most = Math.max(most, performance.now() - begin);
  }
  return most;
}

async function responsiveness() {
  return {
    readFile: await longest(() => readFile(THIS)),
    lookup: await longest(() => lookup('localhost')),
    timer: await longest(() => sleep(10)),
  };
}

/** What 64 calls of 2 s add to these times, and how long they take, in milliseconds. */
async function round(kali) {
  const alone = await responsiveness();
  const begin = performance.now();
  const calls = Array.from({ length: 64 }, () => kali.call('slow', { ms: 2_000 }));
  const [beside, results] = await Promise.all([responsiveness(), Promise.all(calls)]);
  const took = performance.now() - begin;
  assert.ok(results.every((result) => result.ok));
  const added = Object.keys(alone).map((name) => [name, beside[name] - alone[name]]);
  return { took, ...Object.fromEntries(added) };
}

// Rule 7.3.
test('64 calls under way hold up neither files, nor names, nor timers', (t) =>
  withRun(async ({ kali }) => {
    await kali.call('echo');
    const holds = ({ took, ...added }) => took < 2_500 && Object.values(added).every((ms) => ms < 20);
    let last;
    // What else the machine does shows in these times, too: one quiet round is enough.
    for (let i = 0; i < ROUNDS && !(last && holds(last)); i += 1) {
      last = await round(kali);
      t.diagnostic(JSON.stringify(last, (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)));
    }
    assert.ok(holds(last), JSON.stringify(last));
  }));

// Rule 7.3.
test(`memory after ${CALLS} calls of 10 KB`, (t) =>
  withServer(
    async ({ url }) => {
      // What V8 takes for itself, compiled code and room for young objects, is not what is measured: on Node 24 that
      // grows by 6 MB in a loop without any calls.
      const flags = ['--expose-gc', '--max-semi-space-size=16', '--no-opt', '--no-maglev'];
      const { status, stdout, stderr } = await program(...flags, 'memory.mjs', url, `${CALLS}`);
      assert.deepEqual([status, stderr], [0, '']);
      const grown = Number(stdout);
      t.diagnostic(`grew by ${grown.toFixed(2)} MB after the first quarter`);
      assert.ok(grown < 8, `grew by ${grown} MB`);
    },
    { prebuilt: { bytes: 10_240 } },
  ));
