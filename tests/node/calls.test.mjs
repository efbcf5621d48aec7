// Calls: what goes in, and what comes out.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openRun } from 'verifi';
import { withRun } from './server.mjs';

/** What the server got as the arguments of its latest call. */
async function received(server) {
  return (await server.requests('tools/call')).at(-1).body.params.arguments;
}

// Rules 2.1, 2.2.
test('a result has what the old SDK gave, and more', () =>
  withRun(async ({ kali }) => {
    const result = await kali.call('echo', { text: 'hi' });
    const { latencyMs, ...others } = result;
    assert.deepEqual(others, {
      ok: true,
      text: 'hi',
      isError: false,
      raw: { content: [{ type: 'text', text: 'hi' }] },
      outcome: 'ok',
      server: 'primary',
      mayHaveRun: false,
      redactions: 0,
    });
    assert.ok(latencyMs > 0 && latencyMs < 10_000 && !Number.isInteger(latencyMs));
  }));

// Rules 2.2, 2.4.
test('raw is what JSON.parse gives, rawJson has every digit', () =>
  withRun(async ({ kali }) => {
    const result = await kali.call('structured');
    assert.match(result.rawJson, /"big":12345678901234567890123,"exact":1\.10/);
    assert.deepEqual(result.raw, JSON.parse(result.rawJson));
    assert.equal(result.raw, result.raw);
    assert.deepEqual({ ...result }.raw, result.raw);
    assert.deepEqual(JSON.parse(JSON.stringify(result)).raw, result.raw);
    assert.equal('rawJson' in JSON.parse(JSON.stringify(result)), false);
    assert.deepEqual(structuredClone(result).raw, result.raw);
  }));

// Rules 2.1, 2.3.
test('what does not apply is absent', () =>
  withRun(async ({ kali, run }) => {
    const good = await kali.call('echo', { text: 'hi' });
    assert.equal('error' in good, false);
    await run.close();
    const late = await kali.call('echo', { text: 'hi' });
    assert.deepEqual([late.ok, late.isError, late.outcome, late.text], [false, false, 'rejected', '']);
    assert.match(late.error, /closed/);
    for (const name of ['server', 'raw']) {
      assert.equal(name in late, false, name);
    }
    assert.equal(late.rawJson, undefined);
  }));

// Rules 2.1, 2.2.
test('arguments go out as JSON.stringify writes them', () =>
  withRun(async ({ kali, server }) => {
    const date = new Date(0);
    const args = { a: undefined, b: [undefined, null], c: { d: 1.5, e: undefined }, date, emoji: '\u{1F600}', nan: NaN };
    await kali.call('echo', args);
    const wanted = JSON.parse(JSON.stringify(args));
    assert.deepEqual(await received(server), wanted);
    for (const none of [undefined, null, {}]) {
      await kali.call('echo', none);
      assert.deepEqual(await received(server), {});
    }
    assert.equal((await kali.call('echo', { text: 'a\u2028b\0c' })).text, 'a\u2028b\0c');
  }));

// Rules 5.2, 2.2.
test('secrets reach the tool, the harness keeps its object, and the answer has none', () =>
  withRun(
    async ({ kali, server }) => {
      const args = Object.freeze({ text: 'the key is s3cr3t-4711' });
      const result = await kali.call('echo', args);
      assert.equal((await received(server)).text, 'the key is s3cr3t-4711');
      assert.equal(args.text, 'the key is s3cr3t-4711');
      assert.deepEqual([result.text, result.redactions], ['the key is [REDACTED]', 1]);
      assert.doesNotMatch(result.rawJson, /s3cr3t/);
    },
    { options: { secrets: ['s3cr3t-4711'] } },
  ));

// Rules 2.1, 2.3, 4.1.
test('what cannot be sent is rejected, never thrown', () =>
  withRun(async ({ kali, run, server }) => {
    const cycle = {};
    cycle.itself = cycle;
    const throwing = {
      get a() {
        throw new Error('no a');
      },
    };
    let deep = {};
    for (let i = 0; i < 200_000; i += 1) {
      deep = { deep };
    }
    const cases = [
      ['echo', { n: 1n }, /BigInt/],
      ['echo', cycle, /circular/],
      ['echo', { f: () => {} }, /"f" would be a function/],
      ['echo', { list: [Symbol('s')] }, /would be a symbol/],
      ['echo', () => {}, /would be a function/],
      ['echo', throwing, /no a/],
      ['echo', deep, /not JSON/],
      ['echo', 'text', /object/],
      ['echo', [1], /object/],
      [undefined, {}, /name of the tool/],
      [Symbol('tool'), {}, /name of the tool/],
    ];
    for (const [tool, args, error] of cases) {
      const result = await kali.call(tool, args);
      assert.deepEqual([result.ok, result.isError, result.outcome, result.mayHaveRun], [false, false, 'rejected', false]);
      assert.match(result.error, error);
    }
    assert.equal(run.ledger().toolCalls, 0);
    assert.equal(run.timeline().filter((event) => event.kind === 'tool_error').length, cases.length);
    assert.deepEqual(await server.requests('tools/call'), []);
  }));

// Rules 2.1, 2.5.
test('options that are none make a call that is rejected', () =>
  withRun(async ({ kali }) => {
    const cases = [
      [{ timeoutMs: 0 }, /^timeoutMs: /],
      [{ timeoutMs: 1.5 }, /^timeoutMs: /],
      [{ timeoutMs: '5' }, /^timeoutMs: /],
      [{ timeout: 5 }, /^timeout: there is no such option/],
      [{ signal: {} }, /^signal: /],
      [{ onProgress: 1 }, /^onProgress: /],
      [7, /options/],
    ];
    for (const [options, error] of cases) {
      const result = await kali.call('echo', {}, options);
      assert.deepEqual([result.ok, result.outcome], [false, 'rejected']);
      assert.match(result.error, error);
      await assert.rejects(kali.listTools(options), { name: 'ListToolsError', message: /^tools\/list failed: / });
    }
    assert.equal((await kali.call('echo', { text: 'hi' }, { timeoutMs: undefined, signal: undefined })).ok, true);
  }));

// Rule 2.5.
test('the deadline of a call', () =>
  withRun(async ({ kali }) => {
    const result = await kali.call('slow', { ms: 20_000 }, { timeoutMs: 150 });
    assert.deepEqual([result.ok, result.outcome, result.mayHaveRun], [false, 'timed_out', true]);
    assert.match(result.error, /tool call timed out/);
    assert.ok(result.latencyMs >= 150 && result.latencyMs < 2_000, `${result.latencyMs} ms`);
  }));

// Rule 2.8.
test('progress comes in order, before the result, and in the context of the call', () =>
  withRun(async ({ kali }) => {
    const { AsyncLocalStorage } = await import('node:async_hooks');
    const storage = new AsyncLocalStorage();
    const seen = [];
    const onProgress = (progress) => seen.push([progress, storage.getStore()]);
    const call = storage.run('mine', () => kali.call('progress', { n: 3, interval: 1 }, { onProgress }));
    const result = await call.finally(() => seen.push('result'));
    assert.equal(result.ok, true);
    const steps = [1, 2, 3].map((step) => [{ progress: step, total: 3, message: `step ${step}` }, 'mine']);
    assert.deepEqual(seen, [...steps, 'result']);
  }));

// Rules 2.1, 2.8.
test('a callback that fails fails no call', async (t) => {
  const warned = [];
  const warn = (warning) => warned.push(warning.message);
  process.on('warning', warn);
  t.after(() => process.off('warning', warn));
  const onEvent = async () => {
    throw new Error('bad listener');
  };
  await withRun(
    async ({ kali }) => {
      const onProgress = () => {
        throw new Error('bad progress');
      };
      const result = await kali.call('progress', { n: 2, interval: 1 }, { onProgress });
      assert.deepEqual([result.ok, result.text], [true, 'done']);
    },
    { options: { onEvent } },
  );
  await new Promise(setImmediate);
  assert.deepEqual(warned.sort(), ['onEvent failed: bad listener', 'onProgress failed: bad progress']);
});

// Rules 3.10, 6.4.
test('lists of tools, and their failure', () =>
  withRun(
    async ({ kali, run }) => {
      assert.ok((await kali.listTools()).includes('echo'));
      const definitions = await kali.toolDefinitions();
      const echo = definitions.find((definition) => definition.name === 'echo');
      assert.deepEqual(echo.inputSchema, { type: 'object' });
      await assert.rejects(run.mcp('dead').listTools(), {
        name: 'ListToolsError',
        code: 'list_tools',
        message: /^tools\/list failed: http:\/\/127\.0\.0\.1:1\/mcp: /,
      });
    },
    { more: { dead: 'http://127.0.0.1:1' } },
  ));

// Rules 6.3, 6.6.
test('health tells what a slot has learnt', async () => {
  const run = openRun({ runId: 'r1', slotFills: { kali: 'http://127.0.0.1:1' } });
  const kali = run.mcp('kali');
  assert.deepEqual(kali.health(), [{ server: 'primary', endpoint: 'http://127.0.0.1:1/mcp', state: 'unused' }]);
  const result = await kali.call('echo');
  assert.equal(result.outcome, 'unreachable');
  const [{ state, reason }] = kali.health();
  assert.equal(state, 'dead');
  assert.match(reason, /127\.0\.0\.1:1/);
  await run.close();
});

// Rules 1.3, 4.2.
test('64 calls at once each have their own answer', () =>
  withRun(async ({ kali, run }) => {
    const texts = Array.from({ length: 64 }, (_, i) => `call ${i}`);
    const results = await Promise.all(texts.map((text) => kali.call('echo', { text })));
    assert.deepEqual(results.map((result) => result.text), texts);
    const { toolCalls, failures, slots } = run.ledger();
    assert.deepEqual([toolCalls, failures, slots.kali.tools.echo.toolCalls], [64, 0, 64]);
  }));
