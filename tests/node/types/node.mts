// With the types of Node: its signals and its environment fit.

import { collectRunSecrets, openRun } from 'verifi';

const run = openRun({ runId: 'r1' });
const signal: AbortSignal = AbortSignal.any([new AbortController().signal, AbortSignal.timeout(5)]);
void run.mcp('kali').call('echo', {}, { signal });
void run.mcp('kali').listTools({ signal });
void collectRunSecrets(process.env);
