// Journals as others would write them: by what the format says, and by none of verifi's own code.

import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';

const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** Writes a journal of so many events of run `r1`; `more` has further members, as JSON texts. */
export function writeSealed(path, count, more = {}) {
  const members = Object.entries(more).map(([name, json]) => `,"${name}":${json}`).join('');
  const file = openSync(path, 'w');
  let [prev, text] = ['0'.repeat(64), ''];
  for (let seq = 1; seq <= count; seq += 1) {
    const event = `{"seq":${seq},"ts":"2026-12-02T01:02:03.004Z","runId":"r1","kind":"log","message":"line ${seq}"`;
    const body = `${event}${members},"prev":"${prev}"`;
    prev = sha256(body);
    text += `${body},"hash":"${prev}"}\n`;
    if (text.length > 1 << 20) {
      writeSync(file, text);
      text = '';
    }
  }
  writeSync(file, text);
  closeSync(file);
}
