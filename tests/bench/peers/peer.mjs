// What the official clients for TypeScript have in common as clients of the bench.

import { place, scrub, takeTurns } from '../clients/turns.mjs';

export async function run(Client, Transport) {
  const { url, secrets } = place();
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new Transport(new URL(`${url}/mcp`)));
  await takeTurns(async (name) => {
    const result = await client.callTool({ name, arguments: { n: 1 } });
    return scrub(result.content[0].text, secrets);
  });
  await client.close();
}
