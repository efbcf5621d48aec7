// `workers.mjs URL COUNT MANNER`: ends workers in mid-call, five at a time, and then makes a call of its own. They are
// terminated (`terminate`), also while they close their run (`close`), or exit of themselves (`exit`).
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { openRun } from 'verifi';

const FIVE = 5;

async function endAll(url, count, manner) {
  const options = { workerData: { url, manner } };
  for (let done = 0; done < count; done += FIVE) {
    const workers = Array.from({ length: FIVE }, () => new Worker(fileURLToPath(import.meta.url), options));
    const exits = workers.map((worker) => once(worker, 'exit'));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    if (manner !== 'exit') {
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
    await Promise.all(exits);
  }
  const run = openRun({ runId: 'main', slotFills: { kali: url } });
  // Long enough for the calls of the last workers to tell their server that they are cancelled.
  const result = await run.mcp('kali').call('slow', { ms: 500 });
  console.log(result.text);
  await run.close();
}

async function work({ url, manner }) {
  const run = openRun({ runId: 'worker', slotFills: { kali: url } }, { onEvent() {} });
  const kali = run.mcp('kali');
  for (let i = 0; i < 4; i += 1) {
    void kali.call('slow', { ms: 60_000 });
  }
  void (async () => {
    for await (const event of run.events()) void event;
  })();
  await kali.call('echo', {});
  parentPort.postMessage('in mid-call');
  if (manner === 'exit') setImmediate(() => process.exit());
  if (manner === 'close') void run.close();
  for (;;) await kali.call('echo', { text: 'x' });
}

await (isMainThread ? endAll(process.argv[2], Number(process.argv[3]), process.argv[4]) : work(workerData));
