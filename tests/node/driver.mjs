// The Node face as the scenarios see it: commands by line, answers by line. `tests/README.md` has the commands.

import { collectRunSecrets, openRun, readJournal, redact, SDK_VERSION, VERSION, verifyJournal } from 'verifi';

/** The face cannot express the command. */
class Unsupported extends Error {}

let run;
let events;
let nextEvent;
const started = new Map();

const commands = {
  open(manifest, options) {
    run = openRun(manifest, options === '' ? {} : JSON.parse(options));
    events = run.events();
    return true;
  },
  version: () => ({ sdk: SDK_VERSION, version: VERSION }),
  redact: (text, secrets) => redact(text, JSON.parse(secrets)),
  collect: (env) => collectRunSecrets(JSON.parse(env)),
  slot(name) {
    const { slot, endpoint } = run.mcp(name);
    return { name: slot, endpoint };
  },
  health: (slot) => run.mcp(slot).health(),
  call: (...request) => settled(begin(...request)),
  start(id, ...request) {
    started.set(id, begin(...request));
    return true;
  },
  async wait(id, ms) {
    const call = started.get(id);
    return (await within(call.result, ms)) === undefined ? null : settled(call);
  },
  cancel(id) {
    started.get(id).cancel.abort();
    return true;
  },
  list: (slot) => run.mcp(slot).listTools(),
  async definitions(slot) {
    const definitions = await run.mcp(slot).toolDefinitions();
    return new Json(`[${definitions.map((definition) => definition.rawJson)}]`);
  },
  verify: (path) => verifyJournal(path),
  async read(path) {
    const events = [];
    for await (const event of readJournal(path)) events.push(event);
    return events;
  },
  ledger: () => run.ledger(),
  events: () => run.timeline(),
  await_event: awaitEvent,
  log(line) {
    run.log(line);
    return true;
  },
  async close() {
    await run.close();
    return true;
  },
};

/** Text that is put into an answer as it is. */
class Json {
  constructor(text) {
    this.text = text;
  }
}

function begin(slot, tool, args, timeoutMs, wantsProgress) {
  const cancel = new AbortController();
  const options = { signal: cancel.signal };
  const progress = wantsProgress === '' ? undefined : [];
  if (timeoutMs !== '') {
    options.timeoutMs = Number(timeoutMs);
  }
  if (progress) {
    options.onProgress = (notice) => progress.push(notice);
  }
  return { cancel, progress, result: run.mcp(slot).call(tool, valueOf(args), options) };
}

/** The arguments as a value. Text that is no JSON, or has digits that a number cannot hold, is none in JavaScript. */
function valueOf(args) {
  if (args === '') {
    return undefined;
  }
  try {
    const value = JSON.parse(args);
    if (JSON.stringify(value) === args) {
      return value;
    }
  } catch {}
  throw new Unsupported();
}

async function settled({ result, progress }) {
  const { raw, ...others } = await result;
  const { rawJson } = await result;
  const text = JSON.stringify(others);
  const ok = rawJson === undefined ? text : `${text.slice(0, -1)},"raw":${rawJson}}`;
  return Object.assign(new Json(ok), { progress });
}

/** The next event of a kind. An event that is late is not lost. */
async function awaitEvent(kind, ms) {
  const end = Date.now() + Number(ms);
  for (;;) {
    nextEvent ??= events.next();
    const next = await within(nextEvent, end - Date.now());
    if (next === undefined || next.done) {
      return null;
    }
    nextEvent = undefined;
    if (next.value.kind === kind) {
      return next.value;
    }
  }
}

async function within(promise, ms) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, Math.max(0, Number(ms)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function answer([verb, ...fields]) {
  try {
    const command = commands[verb];
    if (!command) {
      throw new Unsupported();
    }
    const value = await command(...fields);
    if (!(value instanceof Json)) {
      return JSON.stringify({ ok: value });
    }
    const progress = value.progress ? `,"progress":${JSON.stringify(value.progress)}` : '';
    return `{"ok":${value.text}${progress}}`;
  } catch (error) {
    if (error instanceof Unsupported) {
      return '{"unsupported":true}';
    }
    return JSON.stringify({ error: { kind: error.code ?? 'none', message: error.message } });
  }
}

const ESCAPES = { t: '\t', n: '\n', r: '\r', 0: '\0', '\\': '\\' };

/** The field as it was before it was made fit for a line. */
function unescape(field) {
  return field.replace(/\\(.)/gs, (_, character) => ESCAPES[character] ?? character);
}

/** Lines that end in LF and nothing else: `node:readline` also splits at U+2028. */
async function* linesOf(stream) {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    yield* lines;
  }
}

for await (const line of linesOf(process.stdin)) {
  const reply = await answer(line.split('\t').map(unescape));
  process.stdout.write(`${reply}\n`);
}
await run?.close();
