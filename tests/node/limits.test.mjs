// What verifi may cost the process that it is in.

import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { program, withRun, withServer } from './server.mjs';

const SOAK = process.env.VERIFI_SOAK !== undefined;
const CALLS = SOAK ? 20_000 : 6_000;
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

// Rule 7.3.
test('64 calls under way hold up neither files, nor names, nor timers', (t) =>
  withRun(async ({ kali }) => {
    await kali.call('echo');
    const alone = await responsiveness();
    const begin = performance.now();
    const calls = Array.from({ length: 64 }, () => kali.call('slow', { ms: 2_000 }));
    const [beside, results] = await Promise.all([responsiveness(), Promise.all(calls)]);
    const took = performance.now() - begin;
    t.diagnostic(`alone ${JSON.stringify(alone)}, beside ${JSON.stringify(beside)}, 64 calls ${took.toFixed(0)} ms`);
    assert.ok(results.every((result) => result.ok));
    for (const name of Object.keys(alone)) {
      assert.ok(beside[name] - alone[name] < 20, `${name}: ${alone[name]} ms alone, ${beside[name]} ms beside`);
    }
    assert.ok(took < 2_500, `64 calls of 2 s took ${took} ms`);
  }));

// Rule 7.3.
test(`memory after ${CALLS} calls of 10 KB`, (t) =>
  withServer(
    async ({ url }) => {
      // The room for young objects, which Node 24 lets grow to 128 MB, page by page, is not what is measured.
      const flags = ['--expose-gc', '--max-semi-space-size=4'];
      const { status, stdout, stderr } = await program(...flags, 'memory.mjs', url, `${CALLS}`);
      assert.deepEqual([status, stderr], [0, '']);
      const grown = Number(stdout);
      t.diagnostic(`grew by ${grown.toFixed(2)} MB after the first quarter`);
      assert.ok(grown < 8, `grew by ${grown} MB`);
    },
    { prebuilt: { bytes: 10_240 } },
  ));
