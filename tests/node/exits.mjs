// Ends in the middle of calls that wait and calls that end all the time.
import { openRun } from 'verifi';

const run = openRun({ runId: 'r1', slotFills: { kali: process.argv[2] } }, { onEvent() {} });
const kali = run.mcp('kali');
for (let i = 0; i < 8; i += 1) {
  void kali.call('slow', { ms: 60_000 });
  void (async () => {
    for (;;) await kali.call('echo', { text: 'x' });
  })();
}
await kali.call('echo', {});
setTimeout(() => process.exit(0), Number(process.argv[3]));
