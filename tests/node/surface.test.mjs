// What the package has, and what it has not.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import * as verifi from 'verifi';
import { withRun } from './server.mjs';

const require = createRequire(import.meta.url);

const NAMES = [
  'FailoverSlot',
  'JournalError',
  'ListToolsError',
  'ManifestError',
  'OptionsError',
  'Redactor',
  'Run',
  'SDK_VERSION',
  'SlotNotFilledError',
  'VERSION',
  'VerifiError',
  'collectRunSecrets',
  'createMcpResolver',
  'openRun',
  'readJournal',
  'redact',
  'verifyJournal',
];

/** The names that an object and its prototypes have, down to those of every object. */
function members(object) {
  const names = [];
  for (let at = object; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at)) {
    names.push(...Reflect.ownKeys(at).filter((name) => name !== 'constructor').map(String));
  }
  return names.sort();
}

// Rules 1.4, 7.1, 7.4.
test('import and require give the same, and nothing more than is documented', () => {
  assert.deepEqual(Object.keys(verifi).sort(), NAMES);
  const required = require('verifi');
  assert.deepEqual(Object.keys(required).sort(), NAMES);
  for (const name of NAMES) {
    assert.equal(verifi[name], required[name], name);
  }
});

// Rules 1.4, 7.4.
test('a run and a slot have no way to a raw client', () =>
  withRun(({ run, kali }) => {
    const dispose = [Symbol.asyncDispose, Symbol.dispose].map(String);
    assert.deepEqual(members(run), [...dispose, 'close', 'events', 'ledger', 'log', 'mcp', 'runId', 'timeline']);
    assert.deepEqual(members(kali), ['call', 'endpoint', 'health', 'listTools', 'slot', 'toolDefinitions']);
  }));

// Rules 1.4, 7.4.
test('only verifi makes runs and slots', () => {
  assert.throws(() => new verifi.Run(), TypeError);
  assert.throws(() => new verifi.FailoverSlot(), TypeError);
});

// Rules 1.1, 7.4.
test('the kinds of errors are classes with the codes that all faces share', () => {
  const kinds = {
    ManifestError: 'manifest',
    OptionsError: 'options',
    SlotNotFilledError: 'slot_not_filled',
    ListToolsError: 'list_tools',
    JournalError: 'journal',
  };
  for (const [name, code] of Object.entries(kinds)) {
    const error = new verifi[name]('why');
    assert.ok(error instanceof verifi.VerifiError && error instanceof Error, name);
    assert.deepEqual([error.name, error.code, error.message, String(error)], [name, code, 'why', `${name}: why`]);
    assert.equal(verifi[name].name, name);
  }
});

// Rule 1.1.
test('a bad manifest is an error that names the member', () => {
  const cases = [
    [{}, /^runId: /],
    ['{"runId":"r1","slotFills":{"kali":{"endpoint":"ftp://x"}}}', /^slotFills\.kali\.endpoint: /],
    ['not json', /./],
    [undefined, /./],
    [{ runId: 'r1', slotFills: { kali: { endpoint: 'http://x', headers: { a: '${env:VERIFI_NOT_SET}' } } } }, /headers/],
  ];
  for (const [manifest, message] of cases) {
    assert.throws(() => verifi.openRun(manifest), { name: 'ManifestError', code: 'manifest', message });
  }
  const cyclic = { runId: 'r1' };
  cyclic.itself = cyclic;
  assert.throws(() => verifi.openRun(cyclic), verifi.ManifestError);
});

// Rules 2.5, 2.7.
test('a bad option is an error that names it', () => {
  const manifest = { runId: 'r1' };
  for (const [options, message] of [
    [{ timeoutMs: 0 }, /^timeoutMs: /],
    [{ timeoutMs: Infinity }, /^timeoutMs: /],
    [{ timeOutMs: 1 }, /^timeOutMs: /],
    [{ onEvnt: () => {} }, /^onEvnt: /],
    [{ onEvent: 'x' }, /^onEvent: /],
    [{ maxResponseBytes: 1n }, /not JSON/],
  ]) {
    assert.throws(() => verifi.openRun(manifest, options), { name: 'OptionsError', code: 'options', message });
  }
  assert.equal(verifi.openRun(manifest, { timeoutMs: undefined }).runId, 'r1');
});

// Rule 1.2.
test('a slot that nothing fills', () => {
  const run = verifi.openRun({ runId: 'r1', slotFills: { web_proxy: 'http://x' }, endpoints: { recon: 'http://y' } });
  assert.throws(() => run.mcp('kali'), {
    name: 'SlotNotFilledError',
    code: 'slot_not_filled',
    message:
      "slot 'kali' has no endpoint in this run's manifest. Filled slots: recon, web_proxy. The Service composition " +
      'binds an MCP to every required slot; a missing one is a provisioning fault, not something to work around.',
  });
});

// Rules 1.2, 1.3, 1.5, 7.4.
test('the resolver gives the slots of one run', () =>
  withRun(async ({ server }) => {
    const manifest = { runId: 'r2', endpoints: { kali: `${server.url}/?key=1` } };
    const mcp = verifi.createMcpResolver({ manifest, timeoutMs: 5000 });
    const kali = mcp('kali');
    assert.ok(kali instanceof verifi.FailoverSlot);
    assert.equal(mcp('kali'), kali);
    assert.deepEqual([kali.slot, kali.endpoint], ['kali', `${server.url}/mcp?key=1`]);
    assert.throws(() => mcp('recon'), verifi.SlotNotFilledError);
    assert.equal((await kali.call('echo', { text: 'hi' })).text, 'hi');
    assert.equal(mcp.run.ledger().toolCalls, 1);
    await mcp.run.close();
  }));

// Rules 7.4, 4.3.
test('a run can stand where the context stood', () =>
  withRun(async ({ run }) => {
    const harness = async (ctx) => {
      const result = await ctx.mcp('kali').call('echo', { text: ctx.runId });
      ctx.log(`echo: ${result.text}`);
    };
    await harness(run);
    const lines = run.timeline().filter((event) => event.kind === 'log');
    assert.deepEqual(lines.map((event) => event.message), ['echo: r1']);
  }));

// Rules 5.1, 5.3.
test('redaction outside a run', () => {
  const text = 'x'.repeat(10);
  assert.equal(verifi.redact(text, ['secret']), text);
  assert.equal(verifi.redact('lone \ud800', ['secret']), 'lone \ud800');
  const redactor = new verifi.Redactor(['s3cr3t', 'abc']);
  assert.equal(redactor.redact('abc s3cr3t s3cr3t'), 'abc [REDACTED] [REDACTED]');
  process.env.VERIFI_TEST_TOKEN = 'tok-9f27c41be05d';
  assert.ok(verifi.collectRunSecrets().includes('tok-9f27c41be05d'));
  assert.deepEqual(verifi.collectRunSecrets({ VERIFI_TEST_TOKEN: undefined, A_TOKEN: 'abcdef' }), ['abcdef']);
});

// Rules 3.1, 7.4.
test('the versions', () => {
  assert.equal(verifi.SDK_VERSION, '1.0.0');
  assert.equal(verifi.VERSION, require('verifi/package.json').version);
});
