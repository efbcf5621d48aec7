// The timeline as it happens.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openRun } from 'verifi';
import { withRun } from './server.mjs';

const CALL = ['call_started', 'call_finished'];

async function all(stream) {
  const events = [];
  for await (const event of stream) {
    events.push(event);
  }
  return events;
}

// Rule 4.3.
test('events() gives the past and the present, until the run is closed', () =>
  withRun(async ({ kali, run }) => {
    await kali.call('echo');
    const reading = all(run.events());
    await kali.call('fail');
    run.log('a line');
    await run.close();
    const events = await reading;
    assert.deepEqual(events, run.timeline());
    assert.deepEqual(events.map((event) => event.kind), ['run_started', ...CALL, ...CALL, 'tool_error', 'log', 'run_finished']);
    assert.deepEqual(events.map((event) => event.seq), events.map((_, index) => index + 1));
    assert.deepEqual(await all(run.events({ from: 7 })), events.slice(6));
  }));

// Rules 4.3, 4.1.
test('onEvent hears everything, that of a call before its result', async () => {
  const heard = [];
  await withRun(
    async ({ kali, run }) => {
      await kali.call('echo');
      assert.deepEqual(heard.map((event) => event.kind), ['run_started', ...CALL]);
      await run.close();
      assert.deepEqual(heard, run.timeline());
    },
    { options: { onEvent: (event) => heard.push(event) } },
  );
});

// Rule 4.3.
test('many events at once arrive complete and in order', async () => {
  const heard = [];
  const run = openRun({ runId: 'r1' }, { onEvent: (event) => heard.push(event.seq) });
  const reading = all(run.events());
  for (let i = 0; i < 5_000; i += 1) {
    run.log(`line ${i}`);
  }
  await run.close();
  const events = await reading;
  const numbers = Array.from({ length: 5_002 }, (_, index) => index + 1);
  assert.deepEqual(events.map((event) => event.seq), numbers);
  assert.deepEqual(heard, numbers);
});

// Rule 4.3.
test('leaving the loop ends the subscription, also for one who waits', () =>
  withRun(async ({ run }) => {
    for await (const event of run.events()) {
      assert.equal(event.kind, 'run_started');
      break;
    }
    const stream = run.events();
    assert.equal((await stream.next()).value.seq, 1);
    const waiting = stream.next();
    assert.deepEqual(await stream.return('early'), { done: true, value: 'early' });
    assert.deepEqual(await waiting, { done: true, value: undefined });
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
  }));

// Rule 4.3.
test('several who wait on one stream get an event each', async () => {
  const run = openRun({ runId: 'r1' });
  const stream = run.events({ from: 2 });
  const waiting = [stream.next(), stream.next(), stream.next()];
  ['a', 'b', 'c'].forEach((line) => run.log(line));
  const events = await Promise.all(waiting);
  assert.deepEqual(events.map(({ value }) => value.message), ['a', 'b', 'c']);
  await run.close();
});

// Rules 1.3, 4.3.
test('await using closes the run', async () => {
  const run = openRun({ runId: 'r1' });
  await run[Symbol.asyncDispose]();
  assert.equal(run.timeline().at(-1).kind, 'run_finished');
  assert.equal(run.close(), run.close());
  run.log('too late');
  assert.equal(run.timeline().length, 2);
  const other = openRun({ runId: 'r2' });
  const closing = all(other.events());
  other[Symbol.dispose]();
  assert.equal((await closing).at(-1).kind, 'run_finished');
});
