'use strict';

const { describe, harmless } = require('./callback.js');
const { errorOf, ListToolsError } = require('./errors.js');
const { forget, listen, newNumber } = require('./exchange.js');
const { choicesOf, requestOf } = require('./request.js');
const { rejected, ToolResult } = require('./result.js');
const { follow, unfollow } = require('./signal.js');

class FailoverSlot {
  #native;
  // A run that nobody holds any more is closed; its slots hold it.
  #run;

  constructor(run, native) {
    this.#run = run;
    this.#native = native;
    this.slot = native.name;
    this.endpoint = native.endpoint;
    Object.freeze(this);
  }

  call(tool, args, options) {
    const request = requestOf(tool, args, options);
    return new Promise((resolve) => {
      const number = newNumber();
      const onProgress = request.wantsProgress ? harmless('onProgress', request.onProgress) : undefined;
      const settle = (result) => {
        end(number, request.signal);
        resolve(result);
      };
      listen(number, (notice) => {
        if (notice.kind === 'Progress') {
          onProgress?.(progressOf(notice));
        } else {
          settle(new ToolResult(notice));
        }
      });
      try {
        begin(number, request, () => this.#native.call(number, request));
      } catch (error) {
        settle(rejected(describe(error)));
      }
    });
  }

  async listTools(options) {
    return (await this.#list(options)).names;
  }

  async toolDefinitions(options) {
    return (await this.#list(options)).definitions.map(definitionOf);
  }

  health() {
    return JSON.parse(this.#native.health());
  }

  #list(options) {
    return new Promise((resolve, reject) => {
      const choices = listChoicesOf(options);
      const number = newNumber();
      listen(number, (notice) => {
        end(number, choices.signal);
        if (notice.kind === 'Tools') {
          resolve(notice);
        } else {
          reject(errorOf(notice));
        }
      });
      begin(number, choices, () => this.#native.list(number, choices.timeoutMs, choices.isCancelled === true));
    });
  }
}

function begin(number, { signal, isCancelled }, work) {
  if (signal && !isCancelled) {
    follow(signal, number);
  }
  work();
}

function end(number, signal) {
  forget(number);
  if (signal) {
    unfollow(signal, number);
  }
}

function listChoicesOf(options) {
  try {
    return choicesOf(options);
  } catch (error) {
    throw new ListToolsError(`tools/list failed: ${describe(error)}`);
  }
}

/** A definition, and its text, in which numbers have every digit. */
function definitionOf(rawJson) {
  return Object.defineProperty(JSON.parse(rawJson), 'rawJson', { value: rawJson });
}

function progressOf({ progress, total, message }) {
  return { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
}

module.exports = { FailoverSlot };
