// Writes down outside of the system what really happened: `start` and `end` of every attempt.
const { appendFileSync } = require('node:fs');

module.exports = async function witness({ runId, attempt, payload }) {
  const { label = '' } = payload;
  const note = (what) => appendFileSync(payload.witness, `${what} ${runId} ${attempt} ${label}`.trimEnd() + '\n');
  note('start');
  await new Promise((resolve) => setTimeout(resolve, payload.lastsMs));
  if (payload.fails) throw new Error('it always fails');
  note('end');
};
