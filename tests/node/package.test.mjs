// The package as npm has it: its size, its types, what it costs to load.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const require = createRequire(import.meta.url);
const tools = createRequire(process.env.VERIFI_TOOLS);
const PACKAGE = dirname(require.resolve('verifi/package.json'));
const ADDON = require.resolve('verifi-linux-x64-gnu');

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

function output(program, ...args) {
  return execFileSync(program, args, { encoding: 'utf8' });
}

/** Runs a tool of the tests' own. It must be silent about mistakes. */
function check(program, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
}

// Rule 7.1.
test('unpacked, it is below 8 MB', (t) => {
  const bytes = [...files(PACKAGE), ...files(dirname(ADDON))].reduce((sum, file) => sum + statSync(file).size, 0);
  t.diagnostic(`${(bytes / 1e6).toFixed(2)} MB`);
  assert.ok(bytes < 8e6, `${bytes} bytes`);
});

// Rule 7.1.
test('it has what it needs, and nothing else', () => {
  const { files: listed, exports } = require('verifi/package.json');
  const names = files(PACKAGE).map((file) => file.slice(PACKAGE.length + 1));
  const allowed = (name) => ['package.json', 'README.md'].includes(name) || listed.some((it) => name === it || name.startsWith(`${it}/`));
  assert.deepEqual(names.filter((name) => !allowed(name)), []);
  const entries = Object.values(exports['.']).flatMap((entry) => Object.values(entry));
  for (const entry of entries) {
    assert.ok(names.includes(entry.slice(2)), entry);
  }
});

// Rule 7.1.
test('loading it costs under 20 ms', (t) => {
  const measure = (load) => `
    const begin = performance.now();
    const before = process.cpuUsage();
    ${load};
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify([(user + system) / 1000, performance.now() - begin]));`;
  const ways = {
    require: ['--eval', measure("require('verifi')")],
    // The first import of a process also starts the loader itself.
    import: ['--input-type=module', '--eval', `await import('node:fs'); ${measure("await import('verifi')")}`],
  };
  for (const [way, args] of Object.entries(ways)) {
    const times = Array.from({ length: 9 }, () => JSON.parse(output(process.execPath, ...args)));
    // The least of several: by the clock it is also what else the machine does.
    const [cpu, wall] = [0, 1].map((column) => Math.min(...times.map((row) => row[column])));
    t.diagnostic(`${way}: ${cpu.toFixed(1)} ms of the processor, ${wall.toFixed(1)} ms by the clock`);
    assert.ok(cpu < 20, `${way}: ${cpu} ms`);
  }
});

// Rules 1.4, 7.1.
test('the addon needs the C library alone, and exports what Node asks for alone', () => {
  const needed = [...output('readelf', '--dynamic', ADDON).matchAll(/NEEDED.*\[(.+)\]/g)].map(([, name]) => name);
  const system = /^(libc|libm|libdl|libpthread|libgcc_s|ld-linux-x86-64)\.so/;
  assert.deepEqual(needed.filter((name) => !system.test(name)), []);
  const exported = output('nm', '--dynamic', '--defined-only', '--format=just-symbols', ADDON).trim().split('\n');
  assert.deepEqual(exported.filter((name) => !/^(napi|node_api)_/.test(name)), []);
});

// Rules 7.1, 7.4.
test('the types hold under node16 and bundler resolution, with and without the types of Node', () => {
  const tsc = join(dirname(tools.resolve('typescript/package.json')), tools('typescript/package.json').bin.tsc);
  const typeRoots = [join(dirname(process.env.VERIFI_TOOLS), 'node_modules', '@types')];
  const shared = { strict: true, noEmit: true, target: 'es2022', lib: ['es2023'], exactOptionalPropertyTypes: true };
  const resolutions = {
    node16: { module: 'node16', moduleResolution: 'node16' },
    bundler: { module: 'preserve', moduleResolution: 'bundler' },
  };
  const environments = {
    plain: { types: [], files: ['types/use.mts', 'types/use.cts'] },
    node: { types: ['node'], files: ['types/use.mts', 'types/use.cts', 'types/node.mts'] },
  };
  for (const [resolution, options] of Object.entries(resolutions)) {
    for (const [environment, { types, files }] of Object.entries(environments)) {
      const name = `tsconfig.${resolution}.${environment}.json`;
      writeFileSync(name, JSON.stringify({ compilerOptions: { ...shared, ...options, types, typeRoots }, files }));
      check(tsc, '--project', name);
    }
  }
});

// Rule 7.1.
test('the types resolve however the package is imported', () => {
  const manifest = tools.resolve('@arethetypeswrong/cli/package.json');
  const attw = join(dirname(manifest), tools('@arethetypeswrong/cli/package.json').bin.attw);
  const { version } = require('verifi/package.json');
  check(attw, '--format', 'ascii', join(process.env.VERIFI_DIST, `verifi-${version}.tgz`));
});
