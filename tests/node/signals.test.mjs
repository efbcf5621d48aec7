// Cancelling.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';

import { withRun } from './server.mjs';

const LONG = { ms: 60_000 };

function listeners(signal) {
  return getEventListeners(signal, 'abort').length;
}

// Rules 2.1, 2.6.
test('a signal that is aborted already: nothing is sent', () =>
  withRun(async ({ kali, run, server }) => {
    const result = await kali.call('echo', {}, { signal: AbortSignal.abort() });
    assert.deepEqual([result.ok, result.isError, result.outcome, result.mayHaveRun], [false, false, 'cancelled', false]);
    assert.equal(run.timeline().at(-1).kind, 'tool_error');
    assert.deepEqual(await server.requests('tools/call'), []);
    await assert.rejects(kali.listTools({ signal: AbortSignal.abort() }), { code: 'list_tools', message: /cancelled/ });
  }));

// Rule 2.6.
test('aborting ends the call within 200 ms, and the server hears of it', () =>
  withRun(async ({ kali, server }) => {
    const controller = new AbortController();
    const call = kali.call('slow', LONG, { signal: controller.signal });
    await server.arrived(1);
    const begin = performance.now();
    controller.abort();
    const result = await call;
    assert.ok(performance.now() - begin < 200);
    assert.deepEqual([result.ok, result.outcome, result.mayHaveRun], [false, 'cancelled', true]);
    await server.command({ await: { request: { rpc: 'notifications/cancelled' } } });
  }));

// Rule 2.6.
test('one signal for many calls, at once and one after another', () =>
  withRun(async ({ kali, server }) => {
    const warned = [];
    process.on('warning', (warning) => warned.push(warning.name));
    const controller = new AbortController();
    const { signal } = controller;
    let own = 0;
    signal.onabort = () => {
      own += 1;
    };
    for (let i = 0; i < 3; i += 1) {
      assert.equal((await kali.call('echo', { text: 'hi' }, { signal })).ok, true);
      assert.equal(listeners(signal), 1, 'only the one of the test is left');
    }
    const calls = Array.from({ length: 16 }, () => kali.call('slow', LONG, { signal }));
    assert.equal(listeners(signal), 2);
    await server.arrived(19);
    controller.abort();
    const results = await Promise.all(calls);
    assert.deepEqual(new Set(results.map((result) => result.outcome)), new Set(['cancelled']));
    assert.deepEqual([own, listeners(signal)], [1, 1]);
    await new Promise(setImmediate);
    assert.deepEqual(warned, []);
  }));

// Rule 2.6.
test('aborting after the end changes nothing', () =>
  withRun(async ({ kali }) => {
    const controller = new AbortController();
    const result = await kali.call('echo', { text: 'hi' }, { signal: controller.signal });
    controller.abort();
    assert.deepEqual([result.ok, result.outcome, result.text], [true, 'ok', 'hi']);
    assert.equal(listeners(controller.signal), 0);
  }));

// Rule 2.6.
test('AbortSignal.timeout and AbortSignal.any', () =>
  withRun(async ({ kali }) => {
    const timeout = AbortSignal.timeout(100);
    const result = await kali.call('slow', LONG, { signal: timeout });
    assert.equal(result.outcome, 'cancelled');
    assert.ok(result.latencyMs >= 50 && result.latencyMs < 2_000, `${result.latencyMs} ms`);
    assert.equal(listeners(timeout), 0);
    const controller = new AbortController();
    const call = kali.call('slow', LONG, { signal: AbortSignal.any([controller.signal, AbortSignal.timeout(60_000)]) });
    setTimeout(() => controller.abort(), 20);
    assert.equal((await call).outcome, 'cancelled');
  }));

// Rules 2.1, 2.6.
test('closing the run ends its calls', () =>
  withRun(async ({ kali, run, server }) => {
    const calls = Array.from({ length: 4 }, () => kali.call('slow', LONG));
    await server.arrived(4);
    await run.close();
    const results = await Promise.all(calls);
    assert.deepEqual(new Set(results.map((result) => result.outcome)), new Set(['cancelled']));
    assert.equal(run.timeline().at(-1).kind, 'run_finished');
  }));
