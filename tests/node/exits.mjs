// `exits.mjs URL MS [JOURNAL]`: ends in the middle of calls that wait and calls that end all the time.
import { openRun } from 'verifi';

const [, , url, ms, journal] = process.argv;
const run = openRun({ runId: 'r1', slotFills: { kali: url } }, { onEvent() {}, journal });
const kali = run.mcp('kali');
for (let i = 0; i < 8; i += 1) {
  void kali.call('slow', { ms: 60_000 });
  void (async () => {
    for (;;) await kali.call('echo', { text: 'x' });
  })();
}
await kali.call('echo', {});
setTimeout(() => process.exit(0), Number(ms));
