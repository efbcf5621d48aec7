// `workers.mjs URL COUNT`: terminates workers in mid-call, five at a time, and then makes a call of its own.
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { openRun } from 'verifi';

const FIVE = 5;

async function terminateAll(url, count) {
  for (let done = 0; done < count; done += FIVE) {
    const workers = Array.from({ length: FIVE }, () => new Worker(fileURLToPath(import.meta.url), { workerData: url }));
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  const run = openRun({ runId: 'main', slotFills: { kali: url } });
  const result = await run.mcp('kali').call('echo', { text: 'still here' });
  console.log(result.text);
  await run.close();
}

async function work(url) {
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
  for (;;) await kali.call('echo', { text: 'x' });
}

await (isMainThread ? terminateAll(process.argv[2], Number(process.argv[3])) : work(workerData));
