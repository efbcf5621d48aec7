'use strict';

const { errorOf } = require('./errors.js');
const { forget, listen, native, newNumber } = require('./exchange.js');

async function verifyJournal(path) {
  const { verification } = await told((number) => native.verifyJournal(number, path));
  return JSON.parse(verification);
}

async function* readJournal(path) {
  const journal = native.journal(path);
  try {
    for (let events = await next(journal); events.length > 0; events = await next(journal)) {
      yield* events;
    }
  } finally {
    journal.close();
  }
}

async function next(journal) {
  const { events } = await told((number) => journal.read(number));
  return JSON.parse(events);
}

/** Begins what ends with one notice, and gives that. */
function told(begin) {
  return new Promise((resolve, reject) => {
    const number = newNumber();
    begin(number);
    listen(number, (notice) => {
      forget(number);
      if (notice.kind === 'Failure') {
        reject(errorOf(notice));
      } else {
        resolve(notice);
      }
    });
  });
}

module.exports = { readJournal, verifyJournal };
