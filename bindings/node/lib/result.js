'use strict';

/** The result of a call. `raw` is parsed when it is first asked for. */
class ToolResult {
  #rawJson;

  constructor({ ok, text, isError, latencyMs, error, outcome, server, mayHaveRun, redactions, rawJson }) {
    this.ok = ok;
    this.text = text;
    this.isError = isError;
    this.latencyMs = latencyMs;
    if (error !== undefined) {
      this.error = error;
    }
    if (rawJson !== undefined) {
      this.#rawJson = rawJson;
      defineRaw(this, rawJson);
    }
    this.outcome = outcome;
    if (server !== undefined) {
      this.server = server;
    }
    this.mayHaveRun = mayHaveRun;
    this.redactions = redactions;
  }

  get rawJson() {
    return this.#rawJson;
  }
}

/** A property of the result itself, so that a copy (`{...result}`) and `JSON.stringify` have it too. */
function defineRaw(result, rawJson) {
  let parsed;
  let isParsed = false;
  Object.defineProperty(result, 'raw', {
    configurable: true,
    enumerable: true,
    get() {
      if (!isParsed) {
        parsed = JSON.parse(rawJson);
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
