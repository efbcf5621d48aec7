// The journal of a run.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { openRun, verifyJournal } from 'verifi';
import { program, withServer } from './server.mjs';

const FOLDER = mkdtempSync(join(tmpdir(), 'verifi-journal-'));
after(() => rmSync(FOLDER, { recursive: true, force: true }));

const path = (name) => join(FOLDER, `${name}.jsonl`);
const linesOf = (file) => readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

// Rules 4.4, 4.5.
test('every event is a line, and the chain holds', () =>
  withServer(async ({ url }) => {
    const journal = path('whole');
    const run = openRun({ runId: 'r1', slotFills: { kali: url } }, { journal, sync: 'finish' });
    await run.mcp('kali').call('echo', { text: 'hi' });
    assert.equal((await verifyJournal(journal)).ok, true, 'while it is written');
    await run.close();
    const events = linesOf(journal).map(({ prev, hash, v, ...event }) => event);
    assert.deepEqual(events.map((event) => event.seq), run.timeline().map((event) => event.seq));
    assert.deepEqual(events.map((event) => event.kind), run.timeline().map((event) => event.kind));
    const { head, ...verification } = await verifyJournal(journal);
    assert.deepEqual(verification, { events: events.length, missing: 0, ok: true });
    assert.equal(head, linesOf(journal).at(-1).hash);
    assert.equal(statSync(journal).mode & 0o777, 0o600);
  }));

// Rule 4.5.
test('a changed line is named; what cannot be read is an error', async () => {
  const journal = path('changed');
  const run = openRun({ runId: 'r1' }, { journal });
  run.log('first');
  await run.close();
  writeFileSync(journal, readFileSync(journal, 'utf8').replace('first', 'other'));
  const { ok, events, fault } = await verifyJournal(journal);
  assert.deepEqual([ok, events, fault.line], [false, 1, 2]);
  assert.throws(() => openRun({ runId: 'r1' }, { journal }), { name: 'JournalError', code: 'journal' });
  await assert.rejects(verifyJournal(path('absent')), { name: 'JournalError', code: 'journal' });
});

// Rules 4.3, 4.5.
test('a run goes on where its journal ended, and listeners hear of what is new', () =>
  withServer(async ({ url }) => {
    const journal = path('again');
    const manifest = { runId: 'r1', slotFills: { kali: url } };
    const first = openRun(manifest, { journal });
    await first.mcp('kali').call('echo');
    assert.throws(() => openRun(manifest, { journal }), { code: 'journal' }, 'in use');
    await first.close();
    const heard = [];
    const second = openRun(manifest, { journal, onEvent: (event) => heard.push(event) });
    await second.mcp('kali').call('echo');
    await second.close();
    assert.equal(second.ledger().toolCalls, 2);
    const kinds = ['run_started', 'call_started', 'call_finished', 'run_finished'];
    assert.deepEqual(heard.map((event) => event.kind), kinds);
    assert.deepEqual(heard.map((event) => event.seq), [5, 6, 7, 8]);
    const read = [];
    for await (const event of second.events()) read.push(event.seq);
    assert.deepEqual(read, [5, 6, 7, 8]);
    assert.equal(second.timeline().length, 8);
    assert.throws(() => openRun({ runId: 'r2' }, { journal }), { code: 'journal' }, 'of another run');
  }));

// Rule 4.4.
test('process.exit in mid-call leaves a journal that shows every call that the server has seen', () =>
  withServer(async (server) => {
    const journal = path('exit');
    const { status, stderr } = await program('exits.mjs', server.url, '20', journal);
    assert.deepEqual([status, stderr], [0, '']);
    const seen = (await server.requests('tools/call')).length;
    const started = linesOf(journal).filter((event) => event.kind === 'call_started').length;
    assert.ok(seen > 0 && started >= seen, `${started} in the journal, ${seen} at the server`);
    assert.equal((await verifyJournal(journal)).ok, true);
  }));
