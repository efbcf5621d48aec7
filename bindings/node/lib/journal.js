'use strict';

const { errorOf } = require('./errors.js');
const { forget, listen, native, newNumber } = require('./exchange.js');

function verifyJournal(path) {
  return new Promise((resolve, reject) => {
    const number = newNumber();
    native.verifyJournal(number, path);
    listen(number, (notice) => {
      forget(number);
      if (notice.kind === 'Verified') {
        resolve(JSON.parse(notice.verification));
      } else {
        reject(errorOf(notice));
      }
    });
  });
}

module.exports = { verifyJournal };
