// The tools of the servers on the TypeScript SDKs: one for each shape of answer. `progress` tells how a tool reports it
// there, from the second argument of its handler.

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });

export function addTools(server, progress) {
  const tool = (name, shape, work) => server.registerTool(name, { inputSchema: z.object(shape) }, work);

  tool('echo', { message: z.string() }, async ({ message }) => text(message));
  tool('add', { a: z.number(), b: z.number() }, async ({ a, b }) => text(String(a + b)));
  tool('picture', {}, async () => ({ content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] }));
  tool('report', {}, async () => {
    const resource = { uri: 'file:///report.txt', mimeType: 'text/plain', text: 'port 443 open' };
    return { content: [{ type: 'text', text: 'see' }, { type: 'resource', resource }] };
  });
  tool('ports', {}, async () => ({ content: [], structuredContent: { open: [22, 443] } }));
  tool('scan', { steps: z.number(), step_ms: z.number() }, async ({ steps, step_ms }, context) => {
    for (let step = 1; step <= steps; step++) {
      await sleep(step_ms);
      await progress(context, { progress: step, total: steps });
    }
    return text(`${steps} steps`);
  });
}
