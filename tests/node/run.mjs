// Builds the package, packs it, installs the tarballs into a folder of their own together with the tests, and runs them
// there: `node run.mjs COMMAND`, where COMMAND is a key of `COMMANDS`. So nothing is tested but what users get.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '..', '..');
const SOURCE = join(ROOT, 'bindings', 'node');
const DIST = join(ROOT, 'dist');
const PACKAGES = [SOURCE, join(SOURCE, 'npm', 'linux-x64-gnu')];

const NODES = {
  'Node 20': process.execPath,
  'Node 22': join(HERE, 'node_modules', 'node-22', 'bin', 'node'),
  'Node 24': join(HERE, 'node_modules', 'node-24', 'bin', 'node'),
};

const COMMANDS = { test, soak, bench, crash, demo, install: installHere, pack: () => pack().length > 0 };

function main() {
  const command = COMMANDS[process.argv[2]];
  if (!command) {
    console.error(`node run.mjs ${Object.keys(COMMANDS).join('|')}`);
    process.exit(2);
  }
  process.exitCode = command() ? 0 : 1;
}

function test() {
  return inFolder((folder) => {
    const suites = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'));
    const everywhere = Object.entries(NODES).map(([name, node]) => {
      console.log(`${name}: ${version(node)}`);
      const ran = run(node, ['--test', '--test-reporter=spec', ...suites], folder);
      return scenarios(node, folder) && ran;
    });
    return everywhere.every(Boolean);
  });
}

function scenarios(node, folder) {
  const driver = `${node} ${join(folder, 'driver.mjs')}`;
  return run(built('scenarios'), ['--form', 'awaited', '--driver', driver], folder);
}

/** The checks that take minutes. */
function soak() {
  return inFolder((folder) => {
    const flags = ['--test', '--test-reporter=spec', '--test-concurrency=1'];
    const all = Object.entries(NODES).map(([name, node]) => {
      console.log(`${name}: ${version(node)}`);
      return run(node, [...flags, 'lifetime.test.mjs'], folder, { VERIFI_SOAK: '1' });
    });
    return all.every(Boolean);
  });
}

function bench() {
  cargo('build', '--quiet', '--release', '--package', 'verifi-tests', '--bins');
  const released = (name) => join(ROOT, 'target', 'release', name);
  const programs = { VERIFI_SERVER: released('scripted-server'), VERIFI_SEQUENTIAL: released('sequential') };
  return inFolder((folder) => run(process.execPath, ['bench.mjs', '--check'], folder, programs));
}

/** The crash test of the journal, with a harness of Node's. */
function crash() {
  return inFolder((folder) => {
    cpSync(join(ROOT, 'tests', 'crash', 'harness.mjs'), join(folder, 'crash-harness.mjs'));
    const harness = `${process.execPath} ${join(folder, 'crash-harness.mjs')}`;
    const test = ['test', '--locked', '--package', 'verifi-tests', '--test', 'crash', '--', '--nocapture'];
    return run('cargo', test, ROOT, { CRASH_HARNESSES: harness });
  });
}

function demo() {
  return inFolder((folder) => {
    cpSync(join(SOURCE, 'examples', 'sweep.ts'), join(folder, 'sweep.mts'));
    const options = ['--target', 'es2022', '--module', 'node16', '--strict', '--types', 'node', '--typeRoots'];
    const tsc = [join(HERE, 'node_modules', '.bin', 'tsc'), ...options, join(HERE, 'node_modules', '@types'), 'sweep.mts'];
    const servers = join(ROOT, 'target', 'release', 'examples', 'sweep');
    return run(process.execPath, tsc, folder) && run(process.execPath, ['sweep.mjs', servers], folder);
  });
}

/** Does `work` in a folder that has the tests and the installed package, and nothing else. */
function inFolder(work) {
  const tarballs = pack();
  cargo('build', '--quiet', '--package', 'verifi-tests', '--bins');
  const folder = mkdtempSync(join(tmpdir(), 'verifi-node-'));
  try {
    install(folder, tarballs);
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs package and tests into `target/node`, for the conformance suite, which starts the driver there. */
function installHere() {
  const folder = join(ROOT, 'target', 'node');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  install(folder, pack());
  return true;
}

/** Builds the package and gives its tarballs. */
function pack() {
  npm(SOURCE, 'run', '--silent', 'build');
  mkdirSync(DIST, { recursive: true });
  return PACKAGES.map((source) => {
    const [{ filename }] = JSON.parse(npm(source, 'pack', '--json', '--pack-destination', DIST));
    return join(DIST, filename);
  });
}

function install(folder, tarballs) {
  for (const name of readdirSync(HERE).filter((name) => /\.(mjs|cjs|mts|cts)$/.test(name) || name === 'types')) {
    cpSync(join(HERE, name), join(folder, name), { recursive: true });
  }
  writeFileSync(join(folder, 'package.json'), '{ "name": "installed", "private": true }\n');
  // Offline: what the tarballs need is in the tarballs.
  npm(folder, 'install', '--offline', '--no-audit', '--no-fund', '--no-package-lock', ...tarballs);
}

function run(program, args, cwd, more = {}) {
  const env = {
    ...process.env,
    VERIFI_SERVER: built('scripted-server'),
    VERIFI_TOOLS: join(HERE, 'package.json'),
    VERIFI_DIST: DIST,
    ...more,
  };
  return spawnSync(program, args, { cwd, env, stdio: 'inherit' }).status === 0;
}

function built(name) {
  return join(ROOT, 'target', 'debug', name);
}

function version(node) {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
}

function cargo(...args) {
  execFileSync('cargo', args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
}

function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

main();
