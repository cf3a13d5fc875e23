import { isFinal } from '../../../src/domain/run';
import { keyOf, type Facts } from './facts';

/** What starts by itself, without a limit to wait for, starts within so long of its instant: messages travel, rows are read. */
const PROMPT_MS = 1_000;

/** Where nothing goes wrong, everything is on time, no attempt is lost, and what is over holds nothing. */
export function checkCalm(facts: Facts): void {
  if (!facts.isCalm) return;
  checkPromptness(facts);
  checkNothingHeld(facts);
}

function checkPromptness(facts: Facts): void {
  for (const [key, writes] of facts.runWrites) {
    for (const { at, before, after } of writes) {
      const isTakenOver =
        before?.state === 'STARTED' && after.state === 'STARTED' && after.sequence !== before.sequence;
      if (isTakenOver) facts.accuse('no attempt is lost where none died', key, at);
    }
    const [first] = writes;
    if (first?.after.state !== 'STARTED') continue;
    const job = facts.jobOf(first.after);
    const waits = job?.unique ?? job?.concurrency ?? job?.rateLimit ?? job?.overlap;
    const isChanged = facts.jobWrites
      .get(first.after.jobId)
      ?.some(({ after }) => after.state === 'PAUSED' || after.generations.length > 1);
    if (waits || isChanged || job?.member || first.after.origin !== 'scheduled') continue;
    const lateMs = first.at - first.after.dueAt;
    if (lateMs > PROMPT_MS) facts.accuse('everything starts at its instant', `${key}: ${lateMs} ms late`, first.at);
  }
}

function checkNothingHeld(facts: Facts): void {
  const { cloud } = facts;
  for (const { name, value, expiresAt } of cloud.stores.control.rows.all()) {
    if (expiresAt <= cloud.time.now) continue;
    if (name.startsWith('concurrency:') && value !== '[]')
      facts.accuse('what is over holds nothing', `${name}: ${value}`);
    if (!name.startsWith('unique:')) continue;
    const jobId = value.split('/')[0]!;
    const runs = facts.runs.filter((run) => run.jobId === jobId);
    if (runs.length > 0 && runs.every(({ state }) => isFinal(state))) {
      facts.accuse('what is over holds nothing', `${name} of ${runs.map(keyOf).join(', ')}`);
    }
  }
}
