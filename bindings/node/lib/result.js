'use strict';

const { rawJson } = require('./native.js');

/** The result of a call. `raw` is made when it is first asked for. */
class ToolResult {
  // What the JSON of the answer is made from when it is asked for.
  #source;
  #rawJson;

  constructor({ ok, text, isError, latencyMs, error, outcome, server, mayHaveRun, redactions, raw }) {
    this.ok = ok;
    this.text = text;
    this.isError = isError;
    this.latencyMs = latencyMs;
    if (error !== undefined) {
      this.error = error;
    }
    if (raw !== undefined) {
      this.#source = { raw, text };
      defineRaw(this);
    }
    this.outcome = outcome;
    if (server !== undefined) {
      this.server = server;
    }
    this.mayHaveRun = mayHaveRun;
    this.redactions = redactions;
  }

  get rawJson() {
    if (this.#source !== undefined) {
      this.#rawJson = rawJson(this.#source.raw, this.#source.text);
      this.#source = undefined;
    }
    return this.#rawJson;
  }
}

/** A property of the result itself, so that a copy (`{...result}`) and `JSON.stringify` have it too. */
function defineRaw(result) {
  let parsed;
  let isParsed = false;
  Object.defineProperty(result, 'raw', {
    configurable: true,
    enumerable: true,
    get() {
      if (!isParsed) {
        parsed = JSON.parse(result.rawJson);
        isParsed = true;
      }
      return parsed;
    },
  });
}

/** The result of a call that could not even be handed over. */
function rejected(error) {
  const nothing = { ok: false, text: '', isError: false, latencyMs: 0, mayHaveRun: false, redactions: 0 };
  return new ToolResult({ ...nothing, error, outcome: 'rejected' });
}

module.exports = { ToolResult, rejected };
