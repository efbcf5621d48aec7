// `node --expose-gc reads.mjs JOURNAL`: reads it, and by how many MB the process grows after the first quarter of it.
import { readJournal, verifyJournal } from 'verifi';

const [, , journal] = process.argv;
const { events: total } = await verifyJournal(journal);

function resident() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage.rss() / 2 ** 20;
}

const begin = performance.now();
let [count, before] = [0, 0];
for await (const { seq } of readJournal(journal)) {
  count += 1;
  if (seq === Math.floor(total / 4)) before = resident();
}
const ms = Math.round(performance.now() - begin);
console.log(JSON.stringify({ count, ms, grown: resident() - before }));
