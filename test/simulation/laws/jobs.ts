import { currentGeneration, type Job } from '../../../src/domain/job';
import { allBetween, nextOf } from '../../../src/domain/recurrence';
import type { Run } from '../../../src/domain/run';
import type { Write } from '../witness';
import { grouped, SKEW_MS, type Facts } from './facts';

/** What lies so near a change of the job may belong to either side of it. */
const NEAR_MS = 5_000;
const MANY = 100_000;

/** Each job is written by one write after the other, and none of its occurrences is lost or made up. */
export function checkJobs(facts: Facts): void {
  const runsOf = grouped(facts.runs, ({ jobId }) => jobId);
  for (const [jobId, writes] of facts.jobWrites) {
    for (const write of writes) checkWrite(write, facts);
    const runs = runsOf.get(jobId) ?? [];
    checkCoverage(writes, runs, facts);
    for (const run of runs) checkIsNamed(run, writes, facts);
  }
}

function checkWrite({ at, before, after }: Write<Job>, facts: Facts): void {
  if (!before) return;
  const about = `${after.jobId} revision ${after.revision}`;
  // A job of a group may be written again as it was first, by a repeat of the request.
  const isRepeat = after.member !== undefined && after.revision === 1;
  if (!isRepeat && after.revision !== before.revision + 1)
    facts.accuse('a write of a job is the next revision', about, at);
  const isSameLife = after.lifeId === before.lifeId;
  if (before.state === 'DELETED' && isSameLife && after.state !== 'DELETED')
    facts.accuse('a deleted job stays deleted', about, at);
  const isEdit = currentGeneration(after)?.id !== currentGeneration(before)?.id;
  if (!isEdit && before.dueAt !== undefined && after.dueAt !== undefined && after.dueAt < before.dueAt) {
    facts.accuse('a due instant goes back only by an edit', about, at);
  }
}

/** A stretch of time in which a job was ACTIVE under one generation. */
interface Stretch {
  job: Job;
  from: number;
  to: number;
  /** what the job was after that; undefined at the end of the history */
  next: Job | undefined;
}

function stretchesOf(writes: readonly Write<Job>[], endsAt: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [index, { at, after }] of writes.entries()) {
    if (after.state !== 'ACTIVE') continue;
    const next = writes[index + 1];
    const last = stretches.at(-1);
    const to = next?.at ?? endsAt;
    const isGoingOn = last?.to === at && currentGeneration(last.job)?.id === currentGeneration(after)?.id;
    if (isGoingOn) Object.assign(last, { to, next: next?.after });
    else stretches.push({ job: after, from: at, to, next: next?.after });
  }
  return stretches;
}

/** What became due while its job was ACTIVE is run, or covered by a record that says why not. */
function checkCoverage(writes: readonly Write<Job>[], runs: readonly Run[], facts: Facts): void {
  const scheduled = runs.filter(({ origin }) => origin === 'scheduled');
  const recorded = new Set(scheduled.map(({ nominalAt }) => nominalAt));
  for (const { job, from, to, next } of stretchesOf(writes, facts.cloud.time.now)) {
    // What belongs to a chain or batch is looked at with it.
    if (job.member) continue;
    const { schedule } = job;
    const until = Math.min(to - NEAR_MS, facts.cloud.time.now);
    if (schedule.kind === 'once') {
      // A one-off that is paused waits for its being resumed; one that had not begun when it was edited may have another instant.
      const isMoved =
        next?.lifeId === job.lifeId && !(next.schedule.kind === 'once' && next.schedule.at === schedule.at);
      const isDue = schedule.at < until && next?.state !== 'PAUSED' && !isMoved;
      if (isDue && !recorded.has(schedule.at))
        facts.accuse('no occurrence is lost', `${job.jobId} at ${new Date(schedule.at).toISOString()}`);
      continue;
    }
    // How many it may have is counted over its whole life.
    const most = job.maxRuns === undefined ? MANY : 0;
    const named = allBetween(schedule, from + NEAR_MS, until - SKEW_MS - (job.jitterSeconds ?? 0) * 1000, most);
    const covered = coveredBy(scheduled, schedule);
    for (const at of named) {
      if (!recorded.has(at) && !covered.has(at))
        facts.accuse('no occurrence is lost', `${job.jobId} at ${new Date(at).toISOString()}`);
    }
  }
}

/** Misfires that were found together share a record at the latest of them, with a count of the others. */
function coveredBy(runs: readonly Run[], schedule: Extract<Job['schedule'], { kind: 'recurring' }>): Set<number> {
  const covered = new Set<number>();
  for (const { nominalAt, alsoCovers = 0 } of runs) {
    if (alsoCovers === 0) continue;
    for (const at of allBetween(schedule, nominalAt - 4 * 3_600_000, nominalAt - 1, MANY).slice(-alsoCovers))
      covered.add(at);
  }
  return covered;
}

/** A run that the schedule started stands for an instant that its generation named. */
function checkIsNamed(run: Run, writes: readonly Write<Job>[], facts: Facts): void {
  if (run.origin !== 'scheduled') return;
  const named = writes.some(({ after: job }) => {
    if (currentGeneration(job)?.id !== run.generation) return false;
    const { schedule } = job;
    return schedule.kind === 'once'
      ? schedule.at === run.nominalAt
      : nextOf(schedule, run.nominalAt - 1) === run.nominalAt;
  });
  // Runs of a chain or batch that were sent again have an instant of their own for a while before the row names it.
  const isOfGroup = facts.jobOf(run)?.member !== undefined;
  if (!named && !isOfGroup) facts.accuse('a run stands for an instant of its schedule', `${run.jobId} ${run.runId}`);
  const { maxRuns } = facts.jobOf(run) ?? {};
  // What was dispatched before a pause, or by a process that died before it counted it, runs beside what is dispatched anew.
  if (maxRuns === undefined || !facts.isCalm || writes.some(({ after }) => after.state === 'PAUSED')) return;
  const ran = facts.runs.filter(
    ({ jobId, generation, origin, attempt }) =>
      jobId === run.jobId && generation === run.generation && origin === 'scheduled' && attempt > 0,
  );
  if (ran.length > maxRuns)
    facts.accuse('a job has no more runs than its most', `${run.jobId}: ${ran.length} of ${maxRuns}`);
}
