'use strict';

const { collectOwnSecrets, collectSecrets, NativeRedactor } = require('./native.js');

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

function collectRunSecrets(env) {
  if (env === undefined) {
    return collectOwnSecrets();
  }
  return collectSecrets(Object.entries(env).filter(([, value]) => typeof value === 'string'));
}

module.exports = { Redactor, redact, collectRunSecrets };
