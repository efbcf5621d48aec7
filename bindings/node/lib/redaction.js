'use strict';

const { collectSecrets, NativeRedactor } = require('./native.js');

class Redactor {
  #native;

  constructor(secrets) {
    this.#native = new NativeRedactor([...secrets]);
  }

  redact(text) {
    return this.#native.redact(text) ?? text;
  }
}

function redact(text, secrets) {
  return new Redactor(secrets).redact(text);
}

function collectRunSecrets(env = process.env) {
  return collectSecrets(pairsOf(env));
}

/** An environment as pairs of name and value. */
function pairsOf(env) {
  return Object.entries(env).filter(([, value]) => typeof value === 'string');
}

module.exports = { Redactor, redact, collectRunSecrets, pairsOf };
