// Writes down outside of the system of which runs its subscriber heard.
const { appendFileSync } = require('node:fs');

module.exports = function notice({ subject }) {
  appendFileSync(process.env.NOTICE_WITNESS, `notice ${subject}\n`);
};
