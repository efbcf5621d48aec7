'use strict';

const { native } = require('./exchange.js');

// However many calls share a signal, it has one listener of ours, and none when no call is under way: a signal may live
// as long as the process, and Node warns of more than ten listeners.
const followers = new WeakMap();

/** Cancels the call of this number when the signal is aborted, until `unfollow`. */
function follow(signal, number) {
  const known = followers.get(signal);
  if (known) {
    known.numbers.add(number);
    return;
  }
  const numbers = new Set([number]);
  const abort = () => {
    for (const each of numbers) {
      native.cancel(each);
    }
  };
  followers.set(signal, { numbers, abort });
  signal.addEventListener('abort', abort);
}

function unfollow(signal, number) {
  const known = followers.get(signal);
  known?.numbers.delete(number);
  if (known?.numbers.size === 0) {
    followers.delete(signal);
    signal.removeEventListener('abort', known.abort);
  }
}

function isSignal(value) {
  return typeof value?.aborted === 'boolean' && typeof value.addEventListener === 'function';
}

module.exports = { follow, unfollow, isSignal };
