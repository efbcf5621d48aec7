'use strict';

const { attempt, errorOf, ...errors } = require('./lib/errors.js');
const { readJournal, verifyJournal } = require('./lib/journal.js');
const { SDK_VERSION, VERSION } = require('./lib/native.js');
const { collectRunSecrets, redact, Redactor } = require('./lib/redaction.js');
const { createMcpResolver, openRun, Run } = require('./lib/run.js');
const { FailoverSlot } = require('./lib/slot.js');

module.exports = {
  ...errors,
  FailoverSlot,
  Redactor,
  Run,
  SDK_VERSION,
  VERSION,
  collectRunSecrets,
  createMcpResolver,
  openRun,
  readJournal,
  redact,
  verifyJournal,
};
