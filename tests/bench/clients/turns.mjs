// What the clients in JavaScript have in common: they read what to do and say how it went. README.md has the lines.

import { readFileSync } from 'node:fs';

/** The calls of one of those that are at work at once. */
async function calls(turn, call) {
  for (let i = 0; i < turn.count / turn.width; i += 1) {
    turn.last = '';
    const begin = process.hrtime.bigint();
    turn.last = await call(turn.tool);
    turn.each.push(Number(process.hrtime.bigint() - begin));
  }
}

function occurrences(text, of) {
  let count = 0;
  for (let at = text.indexOf(of); at >= 0; at = text.indexOf(of, at + of.length)) {
    count += 1;
  }
  return count;
}

/** Does what `TOOL COUNT WIDTH` asks for, and gives how it went. */
async function take(line, call) {
  const [tool, count, width] = line.split(' ');
  const turn = { tool, count: Number(count), width: Number(width), each: [], last: '' };
  const begin = process.hrtime.bigint();
  try {
    await Promise.all(Array.from({ length: turn.width }, () => calls(turn, call)));
  } catch (error) {
    return { error: String(error) };
  }
  const ns = Number(process.hrtime.bigint() - begin);
  return { ns, bytes: turn.last.length, redacted: occurrences(turn.last, '[REDACTED]'), each: turn.each };
}

/** Takes turns until the input ends; `call` makes a call of a tool, and gives its text. */
export async function takeTurns(call) {
  // Whoever asks waits for the answer: a line comes alone, and whole.
  for await (const line of process.stdin) {
    process.stdout.write(`${JSON.stringify(await take(line.toString(), call))}\n`);
  }
}

/** The arguments of every client: the server's URL, and the secrets, which a file has on a line each. */
export function place() {
  const [url, path] = process.argv.slice(2);
  return { url, secrets: readFileSync(path, 'utf8').split('\n').filter(Boolean) };
}

/** What one writes where the client does not scrub. */
export function scrub(text, secrets) {
  return secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '[REDACTED]'), text);
}
