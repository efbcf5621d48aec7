// Awaits nothing: the call alone keeps the process alive.
import { openRun } from 'verifi';

const run = openRun({ runId: 'r1', slotFills: { kali: process.argv[2] } });
void run
  .mcp('kali')
  .call('slow', { ms: 300 })
  .then((result) => console.log(result.text));
