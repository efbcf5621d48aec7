// Opens a run, subscribes in both ways, calls once and closes nothing.
import { openRun } from 'verifi';

const run = openRun({ runId: 'r1', slotFills: { kali: process.argv[2] } }, { onEvent() {} });
void (async () => {
  for await (const event of run.events()) void event;
})();
const result = await run.mcp('kali').call('echo', { text: 'done' });
console.log(`${result.text} ${Date.now()}`);
