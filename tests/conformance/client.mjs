// The client that the conformance suite starts: `client.mjs DRIVER… URL`. DRIVER is the scenario driver of a face
// (tests/README.md has its commands), so that what the suite sees is that face and nothing of this program.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const FIELD = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0' };
// What an answer of the server is; anything else means that the scenario was not played to its end.
const ANSWERED = ['ok', 'tool_error', 'refused'];
const EXAMPLES = { string: 'text', number: 1.5, integer: 2, boolean: true, array: [], object: {}, null: null };

class Driver {
  constructor([program, ...args]) {
    this.process = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.answers = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  /** Gives the value of the command's answer. */
  async command(...fields) {
    const line = fields.map((field) => String(field).replace(/[\\\t\n\r\0]/g, (character) => FIELD[character]));
    this.process.stdin.write(`${line.join('\t')}\n`);
    const { value, done } = await this.answers.next();
    if (done) throw new Error(`the driver ended at: ${fields[0]}`);
    const answer = JSON.parse(value);
    if (!('ok' in answer)) throw new Error(`${fields[0]}: ${value}`);
    return answer.ok;
  }

  end() {
    this.process.stdin.end();
    return new Promise((done) => this.process.once('exit', done));
  }
}

/** Arguments that the schema asks for. */
function example({ properties = {}, required = [] }) {
  return Object.fromEntries(required.map((name) => [name, EXAMPLES[properties[name]?.type ?? 'string']]));
}

/** What the suite says of the scenario beside the server's URL. */
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

/** The calls of a scenario: those that its context names, else each tool that verifi lists. */
function calls(definitions) {
  if (context.toolCalls) return context.toolCalls;
  if (process.env.MCP_CONFORMANCE_SCENARIO === 'json-schema-2020-12-preservation') {
    const { inputSchema } = definitions.find(({ name }) => name === 'json_schema_2020_12_tool');
    return [{ name: 'json_schema_echo', arguments: { schema: inputSchema } }];
  }
  return definitions.map(({ name, inputSchema }) => ({ name, arguments: example(inputSchema) }));
}

async function fetchJson(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.json();
}

/** What whoever provides a server writes into the manifest: where its tokens come from, and the client's credentials. */
async function authorization(endpoint) {
  const { client_id: clientId, client_secret: clientSecret } = context;
  if (!clientSecret) return undefined;
  const { origin, pathname } = new URL(endpoint);
  const resource = await fetchJson(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const [issuer] = resource.authorization_servers;
  const { token_endpoint: tokenUrl } = await fetchJson(`${issuer}/.well-known/oauth-authorization-server`);
  return { tokenUrl, clientId, clientSecret };
}

async function play(driver, endpoint) {
  const auth = await authorization(endpoint);
  const fill = { endpoint, auth, protocolVersion: process.env.MCP_CONFORMANCE_PROTOCOL_VERSION };
  const manifest = { runId: 'conformance', slotFills: { kali: fill } };
  await driver.command('open', JSON.stringify(manifest), JSON.stringify({ timeoutMs: 15000, elicitation: 'defaults' }));
  await driver.command('slot', 'kali');
  const definitions = await driver.command('definitions', 'kali', 'blocking');
  for (const { name, arguments: args } of calls(definitions)) {
    const result = await driver.command('call', 'kali', name, JSON.stringify(args), '', '');
    if (!ANSWERED.includes(result.outcome)) throw new Error(`${name}: ${result.outcome}: ${result.error}`);
  }
  await driver.command('close');
}

const command = process.argv.slice(2, -1);
const driver = new Driver(command);
try {
  await play(driver, process.argv.at(-1));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
await driver.end();
