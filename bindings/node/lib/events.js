'use strict';

const { forget, listen } = require('./exchange.js');

/** The events of a subscription, for `for await`. Waiting for one does not keep the process alive. */
class EventStream {
  #native;
  #number;
  #taken = [];
  #turn = Promise.resolve();

  constructor(number, native) {
    this.#number = number;
    this.#native = native;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** Calls that are made before the one before has its event stand in line. */
  next() {
    const event = this.#turn.then(() => this.#next());
    this.#turn = event.catch(() => {});
    return event;
  }

  async return(value) {
    this.#taken = [];
    // Those that wait are woken, and see the end.
    this.#native.close();
    return { done: true, value };
  }

  async #next() {
    while (this.#taken.length === 0) {
      const taken = this.#native.take();
      if (taken === null) {
        return { done: true, value: undefined };
      }
      this.#taken = JSON.parse(taken).reverse();
      if (this.#taken.length === 0) {
        await this.#more();
      }
    }
    return { done: false, value: this.#taken.pop() };
  }

  #more() {
    return new Promise((resolve) => {
      listen(this.#number, () => {
        forget(this.#number);
        resolve();
      });
    });
  }
}

/** Calls `onEvent` for each event of a subscription. */
function follow(number, native, onEvent) {
  const drain = () => {
    for (let taken = native.take(); taken !== '[]'; taken = native.take()) {
      if (taken === null) {
        forget(number);
        return;
      }
      JSON.parse(taken).forEach((event) => onEvent(event));
    }
  };
  listen(number, drain);
  // Not before the harness has its run.
  queueMicrotask(drain);
}

module.exports = { EventStream, follow };
