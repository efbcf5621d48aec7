// The Node harness of the crash test: `harness.mjs MANIFEST JOURNAL PREFIX`, as harness.rs has it. In place of eight
// threads it has eight calls at once.

import { openRun } from 'verifi';

const [manifest, journal, prefix] = process.argv.slice(2);
const run = openRun(manifest, { journal });
const kali = run.mcp('kali');

async function call(thread) {
  for (let number = 0; ; number++) {
    await kali.call(`${prefix}-${thread}-${number}`, {});
  }
}

await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(call));
