'use strict';

const { AsyncResource } = require('node:async_hooks');

/**
 * The harness's function, made fit to be called by us: in the async context in which we were given it, and whatever it
 * throws or rejects with becomes a warning, once. A failing listener must not fail a call.
 */
function harmless(name, callback) {
  const bound = AsyncResource.bind(callback, `verifi.${name}`);
  let warned = false;
  const warn = (error) => {
    if (!warned) {
      warned = true;
      process.emitWarning(`${name} failed: ${describe(error)}`, 'VerifiWarning');
    }
  };
  return (value) => {
    try {
      const returned = bound(value);
      if (typeof returned?.then === 'function') {
        returned.then(undefined, warn);
      }
    } catch (error) {
      warn(error);
    }
  };
}

/** What was thrown, in one line. Anything can be thrown. */
function describe(error) {
  try {
    return String(error?.message ?? error).split('\n', 1)[0];
  } catch {
    return 'it cannot be said why';
  }
}

module.exports = { harmless, describe };
