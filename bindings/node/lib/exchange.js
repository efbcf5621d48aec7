'use strict';

// What the native addon tells goes to whom it concerns: each listener has a number.

const { Native } = require('./native.js');

const listeners = new Map();
let latest = 0;

const native = new Native((number, notice) => listeners.get(number)?.(notice));

/** A number that no listener has. The addon keeps it in 32 bits. */
function newNumber() {
  do {
    latest = (latest + 1) >>> 0;
  } while (listeners.has(latest));
  return latest;
}

function listen(number, listener) {
  listeners.set(number, listener);
}

function forget(number) {
  listeners.delete(number);
}

module.exports = { native, newNumber, listen, forget };
