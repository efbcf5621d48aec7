'use strict';

class VerifiError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// `name` is on the prototype, as it is for the errors of the language.
function kind(name, code) {
  const made = class extends VerifiError {
    constructor(message) {
      super(code, message);
    }
  };
  Object.defineProperty(made, 'name', { value: name });
  return named(made);
}

function named(made) {
  Object.defineProperty(made.prototype, 'name', { value: made.name, configurable: true, writable: true });
  return made;
}

named(VerifiError);

const ManifestError = kind('ManifestError', 'manifest');
const OptionsError = kind('OptionsError', 'options');
const SlotNotFilledError = kind('SlotNotFilledError', 'slot_not_filled');
const ListToolsError = kind('ListToolsError', 'list_tools');
const JournalError = kind('JournalError', 'journal');

const KINDS = new Map([
  ['manifest', ManifestError],
  ['options', OptionsError],
  ['slot_not_filled', SlotNotFilledError],
  ['list_tools', ListToolsError],
  ['journal', JournalError],
]);

/** The error that a code and a message of the native addon stand for. */
function errorOf({ code, message }) {
  const Kind = KINDS.get(code);
  return Kind ? new Kind(message) : new VerifiError(code, message);
}

/** Does what may fail in the native addon. */
function attempt(work) {
  try {
    return work();
  } catch (error) {
    throw errorOf(error);
  }
}

module.exports = {
  VerifiError,
  ManifestError,
  OptionsError,
  SlotNotFilledError,
  ListToolsError,
  JournalError,
  attempt,
  errorOf,
};
