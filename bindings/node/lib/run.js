'use strict';

const { harmless } = require('./callback.js');
const { attempt, ManifestError, OptionsError } = require('./errors.js');
const { EventStream, follow } = require('./events.js');
const { forget, listen, native, newNumber } = require('./exchange.js');
const { pairsOf } = require('./redaction.js');
const { FailoverSlot } = require('./slot.js');

class Run {
  #native;
  #slots = new Map();
  #closed;

  constructor(opened) {
    this.#native = opened;
    this.runId = opened.id;
    Object.freeze(this);
  }

  mcp(slot) {
    let handle = this.#slots.get(slot);
    if (handle === undefined) {
      handle = new FailoverSlot(this, attempt(() => this.#native.slot(String(slot))));
      this.#slots.set(slot, handle);
    }
    return handle;
  }

  log(line) {
    this.#native.log(String(line));
  }

  ledger() {
    return JSON.parse(this.#native.ledger());
  }

  timeline() {
    return JSON.parse(this.#native.timeline());
  }

  events({ from = this.#native.first } = {}) {
    const number = newNumber();
    return new EventStream(number, this.#native.subscribe(number, from));
  }

  close() {
    this.#closed ??= new Promise((resolve) => {
      const number = newNumber();
      listen(number, () => {
        forget(number);
        resolve();
      });
      this.#native.close(number);
    });
    return this.#closed;
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  [Symbol.dispose]() {
    this.close();
  }
}

function openRun(manifest, options = {}) {
  const { onEvent, ...others } = options;
  if (onEvent !== undefined && typeof onEvent !== 'function') {
    throw new OptionsError('onEvent: must be a function');
  }
  const texts = [manifestText(manifest), optionsText(others)];
  const opened = attempt(() => native.openRun(...texts, pairsOf(process.env)));
  if (onEvent) {
    const number = newNumber();
    follow(number, opened.subscribe(number, opened.first), harmless('onEvent', onEvent));
  }
  return new Run(opened);
}

function createMcpResolver({ manifest, ...options }) {
  const run = openRun(manifest, options);
  return Object.assign((slot) => run.mcp(slot), { run });
}

function manifestText(manifest) {
  if (typeof manifest === 'string') {
    return manifest;
  }
  try {
    return JSON.stringify(manifest) ?? '';
  } catch (error) {
    throw new ManifestError(`the manifest is not JSON: ${error.message}`);
  }
}

/** A function in the place of a value is not left out, or a misspelt `onEvent` would be. */
function optionsText(options) {
  try {
    return JSON.stringify(options, (_, value) => (typeof value === 'function' ? null : value));
  } catch (error) {
    throw new OptionsError(`the options are not JSON: ${error.message}`);
  }
}

module.exports = { Run, openRun, createMcpResolver };
