import verifi from './index.js';

// One instance whichever way it is loaded: a class is the same class in both.
export const {
  FailoverSlot,
  JournalError,
  ListToolsError,
  ManifestError,
  OptionsError,
  Redactor,
  Run,
  SDK_VERSION,
  SlotNotFilledError,
  VERSION,
  VerifiError,
  collectRunSecrets,
  createMcpResolver,
  openRun,
  readJournal,
  redact,
  verifyJournal,
} = verifi;
