// A server on the official TypeScript SDK, release 1, for the interop tests: `typescript1_server.mjs PORT`, on 127.0.0.1.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { addTools, NAME_FORM } from './typescript_tools.mjs';

const sessions = new Map();

const sdk = {
  async progress({ _meta, sendNotification }, report) {
    const params = { progressToken: _meta?.progressToken, ...report };
    if (params.progressToken !== undefined) await sendNotification({ method: 'notifications/progress', params });
  },
  signal: ({ signal }) => signal,
  async ask({ requestId }, server) {
    return { answer: await server.server.elicitInput(NAME_FORM, { relatedRequestId: requestId }) };
  },
};

async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new InMemoryEventStore(),
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  const server = new McpServer({ name: 'verifi-interop', version: '1.0.0' });
  addTools(server, sdk);
  await server.connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await openSession() : sessions.get(id);
  if (transport) return transport.handleRequest(request, response);
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}');
});
http.keepAliveTimeout = 1000;
http.listen(Number(process.argv[2]), '127.0.0.1');
