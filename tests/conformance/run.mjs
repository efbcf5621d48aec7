// Runs the official conformance suite against verifi: `run.mjs [--face NAME] [--scenario NAME] [--readme]`.
//
// Every client scenario of both releases of the suite, at every revision that it offers for it, through every face; left
// out are extensions, and authorization by anything but a client's id and secret. No failure is expected. Prints a table,
// face by revision, then what failed and why; `--readme` puts the table into README.md too. The last line is `N passed,
// N failed`.

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(HERE, '../..');
const run = promisify(execFile);

// The scenario driver of each face, run from the project's folder; `make conformance` builds them. A face is one line.
const FACES = {
  Rust: 'target/debug/driver-rust',
  C: 'target/c/driver',
  Python: 'target/python/bin/python tests/python/driver.py',
  Node: `${process.execPath} target/node/driver.mjs`,
};
// The latest release, and the one that knows 2026-07-28 too.
const SUITES = ['conformance-latest', '@modelcontextprotocol/conformance'];
// Authorization without a browser, and without a key of the client's own. As an extension it is of no revision: it is
// played at those that the suite has for a call.
const CREDENTIALS = 'auth/client-credentials-basic';
const CALL = 'tools_call';
const AT_ONCE = 2;

const { values: options } = parseArgs({
  options: {
    readme: { type: 'boolean' },
    face: { type: 'string', multiple: true, default: Object.keys(FACES) },
    scenario: { type: 'string', multiple: true },
  },
});

/** Runs a suite's command line. */
function conformance(suite, args, env = {}) {
  const script = path.join(HERE, 'node_modules', suite, 'dist/index.js');
  return run(process.execPath, [script, ...args], { cwd: ROOT, env: { ...process.env, NO_COLOR: '1', ...env } });
}

/** The scenarios that a suite offers, each with its revisions. */
async function scenarios(suite) {
  const { stdout } = await conformance(suite, ['list', '--client']);
  const offered = new Map(
    [...stdout.matchAll(/^ +- (\S+) \[(.+)\]$/gm)].map(([, name, revisions]) => [name, revisions.split(',')]),
  );
  if (offered.has(CREDENTIALS)) offered.set(CREDENTIALS, offered.get(CALL));
  return [...offered]
    .filter(([name, revisions]) => name === CREDENTIALS || !(name.startsWith('auth/') || revisions.includes('extension')))
    .filter(([name]) => !options.scenario || options.scenario.includes(name))
    .map(([name, revisions]) => ({ suite, name, revisions }));
}

/** Plays one scenario; its `failure` is what the suite says of it. */
async function play(test) {
  const client = path.relative(ROOT, path.join(HERE, 'client.mjs'));
  const command = [process.execPath, client, FACES[test.face]].join(' ');
  const args = ['client', '--command', command, '--scenario', test.name, '--spec-version', test.revision];
  try {
    await conformance(test.suite, args, { MCP_CONFORMANCE_PROTOCOL_VERSION: test.revision });
    return test;
  } catch (error) {
    return { ...test, failure: reason(`${error.stdout}\n${error.stderr}`) };
  }
}

/** What counts of a suite's long report: what its checks complain of, and the client's own words. */
function reason(report) {
  const checks = report.match(/^ +- [\s\S]*?(?=\n\S|\n\n|$)/gm) ?? [];
  const client = report.match(/Stderr:\n([\s\S]*?)\n(?:Checks:|Client timed out)/)?.[1] ?? '';
  return [client.trim(), ...checks.map((check) => check.trim())].filter(Boolean).join('\n    ') || report.trim();
}

/** The results of all tests, in their order. */
async function playAll(tests) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < tests.length) {
      const at = next++;
      results[at] = await play(tests[at]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

function table(results) {
  const revisions = [...new Set(results.map(({ revision }) => revision))].sort();
  const cell = (face, revision) => {
    const those = results.filter((result) => result.face === face && result.revision === revision);
    return `${those.filter(({ failure }) => !failure).length} of ${those.length}`;
  };
  const rows = options.face.map((face) => [face, ...revisions.map((revision) => cell(face, revision))]);
  const lines = [['', ...revisions], ['---', ...revisions.map(() => '---')], ...rows];
  return lines.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Puts the table between the marks in the README. */
async function publish(text) {
  const readme = path.join(ROOT, 'README.md');
  const marks = /(<!-- make conformance -->\n)[\s\S]*?(<!-- end -->)/;
  const old = await readFile(readme, 'utf8');
  if (!marks.test(old)) throw new Error('README.md has no place for the table');
  await writeFile(readme, old.replace(marks, `$1${text}\n$2`));
}

const offered = (await Promise.all(SUITES.map(scenarios))).flat();
const tests = options.face.flatMap((face) =>
  offered.flatMap(({ suite, name, revisions }) => revisions.map((revision) => ({ face, suite, name, revision }))),
);
const results = await playAll(tests);
console.log(table(results));
if (options.readme) await publish(table(results));
const failed = results.filter(({ failure }) => failure);
for (const { face, suite, name, revision, failure } of failed) {
  console.log(`\n${face}, ${name} at ${revision} (${suite}) ... FAILED:\n    ${failure}`);
}
console.log(`\n${results.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length || !results.length ? 1 : 0;
