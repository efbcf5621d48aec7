// Journals, read without a run.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { openRun, readJournal, verifyJournal } from 'verifi';
import { writeSealed } from './sealed.mjs';
import { program, withServer } from './server.mjs';

const FOLDER = mkdtempSync(join(tmpdir(), 'verifi-reading-'));
after(() => rmSync(FOLDER, { recursive: true, force: true }));

const path = (name) => join(FOLDER, name);
const THOUSAND = path('thousand.jsonl');
const LONG = path('long.jsonl');
const LINES = 200_000;

before(() => {
  writeSealed(THOUSAND, 1_000);
  writeSealed(LONG, LINES);
});

async function all(events) {
  const read = [];
  for await (const event of events) read.push(event);
  return read;
}

/** How far this process has read the file, for each time that it has it open. */
function positions(file) {
  const fds = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      // The one of the folder itself.
      return false;
    }
  });
  return fds.map((fd) => Number(/^pos:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))[1]));
}

// Rules 4.3, 4.4.
test('its events are those of the run', () =>
  withServer(async ({ url }) => {
    const journal = path('equal.jsonl');
    const kali = { endpoint: 'http://127.0.0.1:1', fallback: url };
    const run = openRun({ runId: 'r1', slotFills: { kali } }, { journal, sync: 'none' });
    await run.mcp('kali').call('echo', { text: 'hi' });
    await run.mcp('kali').call('fail');
    run.log('ü, \u{1F50D}, "quotes", \\ and a\nline feed');
    await run.close();
    const events = await all(run.events());
    assert.ok(events.length > 8, `${events.length}`);
    assert.deepEqual(await all(readJournal(journal)), events);
  }));

// Rule 4.3.
test('its numbers are those of the run', async () => {
  const journal = path('numbers.jsonl');
  const numbers = { callId: '9007199254740993', latencyMs: '0.1234567890123456789', evidenceBytes: '18446744073709551615' };
  writeSealed(journal, 3, numbers);
  const read = await all(readJournal(journal));
  const run = openRun({ runId: 'r1' }, { journal, sync: 'none' });
  assert.deepEqual(read, run.timeline().slice(0, 3));
  assert.deepEqual([read[0].callId, read[0].latencyMs], [2 ** 53, 0.12345678901234568]);
  await run.close();
});

// Rule 4.5.
test('what does not hold is an error that names the line, after the events before it', async () => {
  const text = readFileSync(THOUSAND, 'utf8');
  const broken = (name, content) => (writeFileSync(path(name), content), path(name));
  const changed = broken('changed.jsonl', text.replace('line 700"', 'line 7OO"'));
  const torn = broken('torn.jsonl', text.slice(0, -40));
  const endless = broken('endless.jsonl', text.slice(0, -1));
  const tooLong = broken('too-long.jsonl', 'x'.repeat(5 << 20));
  for (const [file, count, what] of [
    [changed, 699, 'line 700: its hash does not fit its text'],
    [torn, 999, 'line 1000: it was not written to its end'],
    [endless, 999, 'line 1000: its end is missing'],
    [tooLong, 0, 'line 1: it is too long'],
  ]) {
    const events = readJournal(file);
    for (let seq = 1; seq <= count; seq += 1) assert.equal((await events.next()).value.seq, seq);
    await assert.rejects(events.next(), { name: 'JournalError', code: 'journal', message: `${file}: ${what}` });
    assert.deepEqual(await events.next(), { done: true, value: undefined }, 'there is nothing after the error');
    assert.deepEqual(positions(file), []);
  }
  assert.deepEqual(await all(readJournal(broken('empty.jsonl', ''))), []);
});

// Rule 4.5.
test('what cannot be read is an error', async () => {
  const [folder, pipe] = [path('folder'), path('pipe')];
  mkdirSync(folder);
  execFileSync('mkfifo', [pipe]);
  for (const [file, message] of [
    [path('absent'), `${path('absent')}: No such file or directory (os error 2)`],
    [folder, `${folder}: is a directory`],
    [pipe, `${pipe}: is not a regular file`],
    ['a\0b', 'a\\0b: file name contained an unexpected NUL byte'],
  ]) {
    const error = { name: 'JournalError', code: 'journal', message };
    await assert.rejects(all(readJournal(file)), error);
    await assert.rejects(verifyJournal(file), error);
  }
  const error = { name: 'JournalError', code: 'journal', message: `${pipe}: is not a regular file` };
  assert.throws(() => openRun({ runId: 'r1' }, { journal: pipe }), error);
});

// Rule 7.3.
test('no more is read than was asked for, and a loop that is left closes the file', async () => {
  const events = readJournal(LONG);
  assert.deepEqual(positions(LONG), [], 'nobody has asked yet');
  await events.next();
  const [first] = positions(LONG);
  for (let i = 1; i < 256; i += 1) await events.next();
  await turn();
  assert.deepEqual(positions(LONG), [first]);
  await events.next();
  const [second] = positions(LONG);
  assert.ok(first > 0 && second > first && second < 1e6, `${first}, ${second}`);
  await events.return();
  assert.deepEqual(positions(LONG), []);
  for await (const event of readJournal(LONG)) {
    assert.equal(positions(LONG).length, 1);
    if (event.seq === 1_000) break;
  }
  assert.deepEqual(positions(LONG), []);
  const many = Array.from({ length: 600 }, () => events.next());
  assert.ok((await Promise.all(many)).every(({ done }) => done));
});

// Rule 7.3.
test('several that ask at once have the events in order', async () => {
  const events = readJournal(THOUSAND);
  const asked = await Promise.all(Array.from({ length: 1_001 }, () => events.next()));
  assert.deepEqual(asked.map(({ value }) => value?.seq), [...Array.from({ length: 1_000 }, (_, i) => i + 1), undefined]);
});

// Rules 4.3, 4.5.
test('what is written in the meantime is read as well, and the loop ends where the file does', async () => {
  const journal = path('live.jsonl');
  const run = openRun({ runId: 'r1' }, { journal, sync: 'none' });
  for (let i = 0; i < 300; i += 1) run.log(`before ${i}`);
  const read = [];
  for await (const event of readJournal(journal)) {
    read.push(event);
    if (event.seq <= 600) run.log(`after ${event.seq}`);
  }
  assert.deepEqual(read, run.timeline());
  assert.equal(read.length, 901);
  await run.close();
});

// Rule 7.3.
test('a journal of 200 000 lines is never in memory', async (t) => {
  // See the test of the calls' memory.
  const flags = ['--expose-gc', '--max-semi-space-size=16', '--no-opt', '--no-maglev'];
  const { status, stdout, stderr } = await program(...flags, 'reads.mjs', LONG);
  assert.deepEqual([status, stderr], [0, '']);
  const { count, grown, ms } = JSON.parse(stdout);
  t.diagnostic(`${count} events in ${ms} ms, grew by ${grown.toFixed(2)} MB after the first quarter`);
  assert.equal(count, LINES);
  assert.ok(grown < 8, `grew by ${grown} MB`);
});

// Rule 7.3.
test("libuv's pool is not needed", { timeout: 60_000 }, async () => {
  const pipe = path('held');
  execFileSync('mkfifo', [pipe]);
  // As many as the pool has threads; none of them opens before there is somebody at the other end.
  const held = Array.from({ length: Number(process.env.UV_THREADPOOL_SIZE ?? 4) }, () => open(pipe, 'r'));
  try {
    assert.equal((await all(readJournal(THOUSAND))).length, 1_000);
  } finally {
    const other = openSync(pipe, 'r+');
    await Promise.all((await Promise.all(held)).map((file) => file.close()));
    closeSync(other);
  }
});

// Rule 7.3.
test('reading keeps the process alive, and a reader that nobody asks does not', async () => {
  const read = "import { readJournal } from 'verifi'; const events = readJournal(process.argv[1]);";
  const whole = `${read} let last; for await (const { seq } of events) last = seq; console.log(last);`;
  const left = `${read} console.log((await events.next()).value.seq, Date.now());`;
  const run = (code) => program('--input-type=module', '--eval', code, THOUSAND);
  const { endedAt: _, ...ended } = await run(whole);
  assert.deepEqual(ended, { status: 0, signal: null, stdout: '1000\n', stderr: '' });
  const { endedAt, stdout, ...others } = await run(left);
  const [seq, at] = stdout.split(' ');
  assert.deepEqual([seq, others], ['1', { status: 0, signal: null, stderr: '' }]);
  assert.ok(endedAt - Number(at) < 1_000, `${endedAt - Number(at)} ms after its last await`);
});

// Rule 7.3.
test('in workers, to the end, and in one that is terminated in the middle', async () => {
  const code = `
    const { workerData, parentPort } = require('node:worker_threads');
    const { readJournal } = require('verifi');
    (async () => {
      let last;
      for await (const { seq } of readJournal(workerData)) {
        last = seq;
        if (seq === 500) parentPort.postMessage('begun');
      }
      parentPort.postMessage(last);
    })();`;
  const begin = (file, wanted) => {
    const worker = new Worker(code, { eval: true, workerData: file });
    return new Promise((resolve, reject) => {
      worker.on('error', reject).on('message', (message) => message === wanted && resolve(worker));
    });
  };
  await Promise.all([begin(THOUSAND, 1_000), begin(THOUSAND, 1_000)]);
  for (let i = 0; i < 10; i += 1) {
    await (await begin(LONG, 'begun')).terminate();
  }
  assert.equal((await all(readJournal(THOUSAND))).length, 1_000);
});
