// `typescript2.mjs URL SECRETS`: the official client for TypeScript, 2.x, as it comes.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { place, scrub, takeTurns } from '../clients/turns.mjs';

const { url, secrets } = place();
const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
await takeTurns(async (name) => {
  const result = await client.callTool({ name, arguments: { n: 1 } });
  return scrub(result.content[0].text, secrets);
});
await client.close();
