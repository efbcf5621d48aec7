// `typescript1.mjs URL SECRETS`: the official client for TypeScript, 1.x, as it comes.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { place, scrub, takeTurns } from '../clients/turns.mjs';

const { url, secrets } = place();
const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
await takeTurns(async (name) => {
  const result = await client.callTool({ name, arguments: { n: 1 } });
  return scrub(result.content[0].text, secrets);
});
await client.close();
