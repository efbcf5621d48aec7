// A server on the official TypeScript SDK, release 2, for the interop tests: `typescript2_server.mjs PORT LEGACY`, on
// 127.0.0.1. LEGACY is what it does with the handshake: `stateless` serves it without a session, `reject` refuses it.

import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { addTools, NAME_FORM } from './typescript_tools.mjs';

const [port, legacy] = process.argv.slice(2);

// What a client must give back as it is.
const STATE = '{"round": 1} \u{1f511}\n\t.';

const sdk = {
  async progress({ mcpReq }, report) {
    const params = { progressToken: mcpReq._meta?.progressToken, ...report };
    if (params.progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params });
  },
  signal: ({ mcpReq }) => mcpReq.signal,
  async ask({ mcpReq }) {
    const answer = mcpReq.inputResponses?.name;
    if (!answer) return { ask: inputRequired({ inputRequests: { name: inputRequired.elicit(NAME_FORM) }, requestState: STATE }) };
    if (mcpReq.requestState() !== STATE) throw new Error('another state');
    return { answer };
  },
};

const handler = createMcpHandler(
  () => {
    const server = new McpServer({ name: 'verifi-interop', version: '1.0.0' });
    addTools(server, sdk);
    return server;
  },
  { legacy },
);
const http = createServer(toNodeHandler(handler));
http.keepAliveTimeout = 1000;
http.listen(Number(port), '127.0.0.1');
