'use strict';

const { describe } = require('./callback.js');
const { isSignal } = require('./signal.js');

const OPTIONS = 'onProgress, signal, timeoutMs';

/**
 * What the native addon needs for a call. It never throws: what is wrong with the call becomes its `fault`, for verifi
 * to reject and record it.
 */
function requestOf(tool, args, options) {
  const request = { tool: '', arguments: '', wantsProgress: false, isCancelled: false };
  try {
    if (typeof tool !== 'string') {
      throw new TypeError('the name of the tool is not a string');
    }
    request.tool = tool;
    Object.assign(request, choicesOf(options));
    request.arguments = argumentsOf(args);
  } catch (error) {
    request.fault = describe(error);
  }
  return request;
}

/** The options of a call or a list. Throws what is wrong with them. */
function choicesOf(options) {
  if (options === undefined || options === null) {
    return {};
  }
  if (typeof options !== 'object') {
    throw new TypeError('the options are not an object');
  }
  const { timeoutMs, signal, onProgress, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new TypeError(`${unknown}: there is no such option; there are ${OPTIONS}`);
  }
  if (timeoutMs !== undefined && !(Number.isSafeInteger(timeoutMs) && timeoutMs > 0)) {
    throw new TypeError('timeoutMs: must be a whole number and at least 1');
  }
  if (signal !== undefined && !isSignal(signal)) {
    throw new TypeError('signal: must be an AbortSignal');
  }
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new TypeError('onProgress: must be a function');
  }
  return { timeoutMs, signal, onProgress, wantsProgress: onProgress !== undefined, isCancelled: signal?.aborted === true };
}

/** The arguments as JSON text, as `JSON.stringify` writes them, but that a function or a symbol is no value to lose. */
function argumentsOf(args) {
  if (args === undefined) {
    return '';
  }
  let text;
  try {
    text = JSON.stringify(args, refuseCode);
  } catch (error) {
    throw new TypeError(`the arguments are not JSON: ${describe(error)}`);
  }
  return text;
}

function refuseCode(key, value) {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`${key === '' ? 'they' : JSON.stringify(key)} would be a ${typeof value}`);
  }
  return value;
}

module.exports = { requestOf, choicesOf };
