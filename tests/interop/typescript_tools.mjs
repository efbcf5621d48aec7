// The tools of the servers on the TypeScript SDKs: one for each shape of answer. What differs between the SDKs is in
// `sdk`, each from the second argument of a tool's handler: `progress` reports it, `signal` is that of the request, and
// `ask` gives the answer to a form, or what the tool must return to get it.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });
// The scans that were cancelled, by their labels.
const stops = new Map();

function stop(label) {
  if (!stops.has(label)) stops.set(label, new AbortController());
  return stops.get(label);
}

export const NAME_FORM = {
  mode: 'form',
  message: 'Who?',
  requestedSchema: { type: 'object', required: ['name'], properties: { name: { type: 'string', default: 'verifi' } } },
};

export function addTools(server, sdk) {
  const tool = (name, shape, work) => server.registerTool(name, { inputSchema: z.object(shape) }, work);

  tool('echo', { message: z.string() }, async ({ message }) => text(message));
  tool('add', { a: z.number(), b: z.number() }, async ({ a, b }) => text(String(a + b)));
  tool('picture', {}, async () => ({ content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] }));
  tool('report', {}, async () => {
    const resource = { uri: 'file:///report.txt', mimeType: 'text/plain', text: 'port 443 open' };
    return { content: [{ type: 'text', text: 'see' }, { type: 'resource', resource }] };
  });
  tool('ports', {}, async () => ({ content: [], structuredContent: { open: [22, 443] } }));

  const region = z.string().meta({ 'x-mcp-header': 'Region' });
  const depth = z.int().meta({ 'x-mcp-header': 'Depth' });
  tool('locate', { region, depth }, async ({ region, depth }) => text(`${depth} ${region}`));

  const scan = { steps: z.number(), step_ms: z.number(), label: z.string().optional() };
  tool('scan', scan, async ({ steps, step_ms, label }, context) => {
    sdk.signal(context).addEventListener('abort', () => stop(label).abort());
    for (let step = 1; step <= steps && !sdk.signal(context).aborted; step++) {
      await sleep(step_ms);
      await sdk.progress(context, { progress: step, total: steps });
    }
    return text(`${steps} steps`);
  });
  // Waits until the scan with the label was cancelled.
  tool('stopped', { label: z.string() }, async ({ label }) => {
    const { signal } = stop(label);
    if (!signal.aborted) await once(signal, 'abort');
    return text(label);
  });
  tool('confirm', {}, async (_, context) => {
    const { ask, answer } = await sdk.ask(context, server);
    return ask ?? text([answer.action, answer.content?.name].join(' ').trimEnd());
  });
}
