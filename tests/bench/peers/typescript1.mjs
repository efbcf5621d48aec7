// `typescript1.mjs URL SECRETS`: the official client for TypeScript, 1.x, as it comes.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { run } from './peer.mjs';

await run(Client, StreamableHTTPClientTransport);
