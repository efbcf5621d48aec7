// `node --expose-gc memory.mjs URL CALLS`: by how many MB the process grows after the first quarter of the calls.
import { openRun } from 'verifi';

const [, , url, calls] = process.argv;
const run = openRun({ runId: 'r1', slotFills: { kali: url } });
const kali = run.mcp('kali');

async function call(times) {
  for (let i = 0; i < times; i += 1) {
    const result = await kali.call('any', { i });
    if (result.text.length !== 10_240 || result.raw === undefined) {
      throw new Error(result.error ?? 'another answer than expected');
    }
  }
}

function resident() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage.rss() / 2 ** 20;
}

const quarter = Math.floor(Number(calls) / 4);
await call(quarter);
const before = resident();
await call(Number(calls) - quarter);
console.log(resident() - before);
await run.close();
