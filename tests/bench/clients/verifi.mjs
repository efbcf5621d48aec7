// `verifi.mjs URL SECRETS`: verifi as it is called in Node. VERIFI_PACKAGE is where the package is.

import { createRequire } from 'node:module';

import { place, takeTurns } from './turns.mjs';

const { openRun } = createRequire(import.meta.url)(process.env.VERIFI_PACKAGE);

const { url, secrets } = place();
const run = openRun({ runId: 'bench', slotFills: { kali: url } }, { secrets });
const kali = run.mcp('kali');

await takeTurns(async (tool) => {
  const result = await kali.call(tool, { n: 1 });
  if (!result.ok) {
    throw new Error(result.error);
  }
  return result.text;
});
await run.close();
