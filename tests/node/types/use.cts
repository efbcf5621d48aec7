// The same package in a CommonJS harness.

import verifi = require('verifi');

const run: verifi.Run = verifi.openRun({ runId: 'r1', endpoints: { kali: 'http://a' } });
const call: Promise<verifi.ToolResult> = run.mcp('kali').call('echo');
void call.then((result) => result.text.length);
