// How long the process lives, and how it and its workers end.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { openRun } from 'verifi';
import { program, withRun, withServer } from './server.mjs';

const require = createRequire(import.meta.url);
const SOAK = process.env.VERIFI_SOAK !== undefined;
const WORKERS = SOAK ? { terminate: 500, exit: 500, close: 500 } : { terminate: 50, exit: 10, close: 10 };
const EXITS = SOAK ? 100 : 10;

function endedWell({ status, signal, stderr }, stdout, wanted) {
  assert.deepEqual([status, signal, stderr], [0, null, '']);
  assert.equal(stdout, wanted);
}

// Rule 7.3.
test('a run that is left open, with subscriptions, does not keep the process alive', () =>
  withServer(async ({ url }) => {
    const ended = await program('leaves-open.mjs', url);
    const [text, at] = ended.stdout.trim().split(' ');
    endedWell(ended, text, 'done');
    assert.ok(ended.endedAt - Number(at) < 1_000, `${ended.endedAt - Number(at)} ms after its last await`);
  }));

// Rule 7.3.
test('a call under way keeps the process alive until its end', () =>
  withServer(async ({ url }) => {
    const ended = await program('waits.mjs', url);
    endedWell(ended, ended.stdout, 'done\n');
  }));

// Rule 7.3.
test('process.exit in mid-call', () =>
  withServer(async ({ url }) => {
    for (let i = 0; i < EXITS; i += 1) {
      const ended = await program('exits.mjs', url, `${i * 3}`);
      endedWell(ended, ended.stdout, '');
    }
  }));

// Rules 7.3, 2.6.
for (const [manner, count] of Object.entries(WORKERS)) {
  test(`${count} workers that end in mid-call: ${manner}`, () =>
    withServer(async (server) => {
      const ended = await program('workers.mjs', server.url, `${count}`, manner);
      endedWell(ended, ended.stdout, 'done\n');
      // What the workers had under way was cancelled when they ended.
      const sent = (await server.requests('tools/call')).filter(({ body }) => body.params.arguments.ms === 60_000);
      assert.ok(sent.length >= count, `${sent.length} calls were under way`);
      await server.command({ await: { request: { rpc: 'notifications/cancelled' }, count: sent.length } });
    }));
}

// Rules 7.3, 1.3.
test('several workers and the main thread at once, each with its own run', () =>
  withRun(async ({ kali, server }) => {
    const code = `
      const { workerData, parentPort } = require('node:worker_threads');
      const { openRun } = require('verifi');
      (async () => {
        const run = openRun({ runId: 'w', slotFills: { kali: workerData.url } });
        const result = await run.mcp('kali').call('echo', { text: workerData.text });
        await run.close();
        parentPort.postMessage([result.text, run.ledger().toolCalls]);
      })();`;
    const answers = ['a', 'b', 'c', 'd'].map((text) => {
      const worker = new Worker(code, { eval: true, workerData: { url: server.url, text } });
      return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    });
    assert.equal((await kali.call('echo', { text: 'main' })).text, 'main');
    assert.deepEqual(await Promise.all(answers), [['a', 1], ['b', 1], ['c', 1], ['d', 1]]);
  }));

// Rules 7.3, 1.1, 5.5.
test('a worker has the environment that it was given', () =>
  withRun(async ({ server }) => {
    const code = `
      const { workerData, parentPort } = require('node:worker_threads');
      const { openRun } = require('verifi');
      (async () => {
        const kali = { endpoint: workerData, headers: { 'x-auth': '\${env:WORKER_AUTH}' } };
        const run = openRun({ runId: 'w', slotFills: { kali } });
        const result = await run.mcp('kali').call('echo', { text: 'tok-of-the-worker' });
        await run.close();
        parentPort.postMessage(result.text);
      })();`;
    const env = { WORKER_AUTH: 'let-me-in', SCAN_TOKEN: 'tok-of-the-worker' };
    const worker = new Worker(code, { eval: true, workerData: server.url, env });
    const text = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
    assert.equal(text, '[REDACTED]');
    const [request] = await server.requests('tools/call');
    assert.equal(request.headers['x-auth'], 'let-me-in');
  }));

// Rule 7.3.
test('the module loaded twice, and from two places', () =>
  withServer(async ({ url }) => {
    const first = require('verifi');
    for (const name of Object.keys(require.cache)) {
      delete require.cache[name];
    }
    const second = require('verifi');
    assert.notEqual(first, second);
    const copy = mkdtempSync(join(tmpdir(), 'verifi-copy-'));
    try {
      const modules = dirname(dirname(require.resolve('verifi/package.json')));
      cpSync(modules, join(copy, 'node_modules'), { recursive: true });
      const third = createRequire(join(copy, 'index.js'))('verifi');
      const texts = [first, second, third, { openRun }].map(async (verifi, index) => {
        const run = verifi.openRun({ runId: 'r1', slotFills: { kali: url } });
        const { text } = await run.mcp('kali').call('echo', { text: `from ${index}` });
        await run.close();
        return text;
      });
      assert.deepEqual(await Promise.all(texts), ['from 0', 'from 1', 'from 2', 'from 3']);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }));
