// `typescript2.mjs URL SECRETS`: the official client for TypeScript, 2.x, as it comes.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { run } from './peer.mjs';

await run(Client, StreamableHTTPClientTransport);
