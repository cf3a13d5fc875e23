import type { Mutation } from './fleet';

const domain = (file: string) => `src/domain/${file}.ts`;
const operation = (file: string) => `src/operations/${file}.ts`;

/** Faults of ours, each of which the simulator has to find: what it does not find, it does not guard. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a write goes ahead though its condition was lost',
    foundAt: 1,
    file: operation('put-run'),
    text: 'return ports.runs.put(fitting, seen);',
    becomes: 'return (await ports.runs.put(fitting, seen)) || true;',
  },
  {
    name: 'the row is advanced before its messages are sent',
    foundAt: 2,
    file: operation('dispatch'),
    text: `  await sendActivations(
    due.flatMap(`,
    becomes: `  await Promise.all(due.map(({ job, decision }) => recordAndAdvance(job, decision, now, ports)));
  await sendActivations(
    due.flatMap(`,
  },
  {
    name: 'misfires leave no record',
    foundAt: 26,
    file: operation('dispatch'),
    text: 'for (const skip of decision.skip) await recordSkip(job, skip, now, ports);',
    becomes: '',
  },
  {
    name: 'a record of misfires does not count what it covers',
    foundAt: 26,
    file: domain('occurrences'),
    text: 'alsoCovers: skipped.count - 1,',
    becomes: 'alsoCovers: 0,',
  },
  {
    name: 'an immediate job is written, and not sent',
    foundAt: 2,
    file: operation('create-job'),
    text: 'if (straight) await sendActivations([{ activation: straight, deliverAt: straight.dueAt }], ports);',
    becomes: '',
  },
  {
    name: 'a tick reads the first page only',
    foundAt: 75,
    file: operation('tick'),
    text: `    cursor = page.cursor;
  } while`,
    becomes: `    cursor = undefined;
  } while`,
  },
  {
    name: 'the dead-letter queue is forgotten',
    foundAt: 67,
    file: operation('tick'),
    text: 'if (isFirst) await redriveOrNote(ports);',
    becomes: '',
  },
  {
    name: 'a long wait leaves the due index without a message',
    foundAt: 13,
    file: operation('tick'),
    text: `  await sendActivations(
    due.map((run) => ({`,
    becomes: `  await sendActivations(
    due.slice(1).map((run) => ({`,
  },
  {
    name: 'a loop looks no further than its next tick',
    foundAt: 57,
    file: domain('loop'),
    text: 'export const HORIZON_MS = 130_000;',
    becomes: 'export const HORIZON_MS = 20_000;',
  },
  {
    name: 'what comes early starts early',
    foundAt: 1,
    file: domain('claim'),
    text: 'if (earlyMs <= 0) return',
    becomes: 'if (earlyMs <= 5_000) return',
  },
  {
    name: 'a live lease is taken over',
    foundAt: 2,
    file: domain('claim'),
    text: "return run.state === 'STARTED' && now <= (run.leaseUntil ?? 0) + LEASE_MARGIN_MS;",
    becomes: 'return false;',
  },
  {
    name: 'a lease is not renewed',
    foundAt: 24,
    file: operation('attempt'),
    text: 'const renewing = renewLease(lease, over.signal, ports);',
    becomes: 'const renewing = renewLease(lease, AbortSignal.abort(), ports);',
  },
  {
    name: 'an attempt that was lost is not counted',
    foundAt: 49,
    file: domain('claim'),
    text: 'if (lost && attemptsOfSeries(run) >= retry.maxAttempts) {',
    becomes: 'if (lost && attemptsOfSeries(run) > 9) {',
  },
  {
    name: 'being held back uses an attempt',
    foundAt: 1,
    file: domain('conclude'),
    text: '{ reason, attempt: run.attempt - 1, heldBack }',
    becomes: '{ reason, heldBack }',
  },
  {
    name: 'a retry is not sent',
    foundAt: 2,
    file: operation('attempt'),
    text: "await sendAgain({ activation: activationOf(run), deliverAt: run.dueAt, reason: 'retry' }, ports);",
    becomes: '',
  },
  {
    name: 'a message is removed before what follows from it is done',
    foundAt: 3,
    file: operation('attempt'),
    text: 'else await goOnAfter(written, await withSubscribersOfNow(job, ports), ports);',
    becomes: 'else void goOnAfter(written, job, ports).catch(() => {});',
  },
  {
    name: 'the generation is ignored',
    foundAt: 4,
    file: domain('claim'),
    text: "if (standing === 'superseded' && !begun) return { action: 'drop', reason: 'superseded' };",
    becomes: '',
  },
  {
    name: 'a paused job goes on',
    foundAt: 1,
    file: domain('claim'),
    text: "if (job!.state === 'PAUSED' && activation.origin === 'scheduled' && !begun) {",
    becomes: "if (job!.state === 'PAUSED' && activation.origin === 'manual' && !begun) {",
  },
  {
    name: 'a deleted job goes on',
    foundAt: 6,
    file: domain('claim'),
    text: "if (job.state === 'DELETED') return isKnown ? 'deleted' : 'fenced';",
    becomes: "if (job.state === 'DELETED') return isKnown ? 'valid' : 'fenced';",
  },
  {
    name: 'a resumed one-off does not come back',
    foundAt: 8,
    file: operation('pause-job'),
    text: 'return (await hasBegunOnce(row, ports)) ? undefined : occurrence(row, row.schedule.at).dueAt;',
    becomes: 'return undefined;',
  },
  {
    name: 'a change forgets what is due already',
    foundAt: 56,
    file: operation('change-job'),
    text: 'if (drained < MOST_DRAINED && isDueAlready(row, now)) {',
    becomes: 'if (drained > MOST_DRAINED && isDueAlready(row, now)) {',
  },
  {
    name: 'a job of a group that failed counts as done',
    foundAt: 1,
    file: domain('group'),
    text: `    case 'FAILED':
      return 'F';`,
    becomes: `    case 'FAILED':
      return 'D';`,
  },
  {
    name: 'a callback comes as often as somebody thinks of it',
    foundAt: 1,
    file: operation('start-callback'),
    text: 'if (standing && !isFence(standing)) return keepUntil(expiresAt, standing, ports);',
    becomes: '',
  },
  {
    name: 'a unique key is taken from its holder',
    foundAt: 3,
    file: operation('unique-lock'),
    text: "if (decision.action === 'refuse') return decision.jobId;",
    becomes: '',
  },
  {
    name: 'a unique key is given back by whoever comes',
    foundAt: 10,
    file: operation('unique-lock'),
    text: 'await control.put(ended, ended);',
    becomes: 'await control.put(ended, await control.read(ended.name));',
  },
  {
    name: 'holds are never given back',
    foundAt: 9,
    file: operation('holds'),
    text: 'await freeLockOf(run, job, ports);',
    becomes: '',
  },
  {
    name: 'a concurrency limit lets one too many in',
    foundAt: 60,
    file: domain('concurrency'),
    text: 'if (slots.length < limit) {',
    becomes: 'if (slots.length <= limit) {',
  },
  {
    name: 'a place is given back twice, the second time that of the next attempt',
    foundAt: 71,
    file: domain('concurrency'),
    text: 'return slots.filter((slot) => slot.runId !== run.runId || !isOver(slot));',
    becomes: 'return slots.filter((slot) => !isOver(slot) && slot.runId === run.runId);',
  },
  {
    name: 'a rate limit counts from the wrong end',
    foundAt: 1,
    file: domain('rate-limit'),
    text: 'const inTheWay = counted[counted.length - policy.limit];',
    becomes: 'const inTheWay = counted[counted.length - policy.limit - 1];',
  },
  {
    name: 'a run that waits for its retry leaves its place to the next',
    foundAt: 1,
    file: domain('overlap'),
    text: 'if (holder ? isFinal(holder.state) :',
    becomes: "if (holder ? holder.state !== 'STARTED' :",
  },
  {
    name: 'what nobody heard of is not told again',
    foundAt: 85,
    file: operation('run-activation'),
    text: "return seen.state === 'STARTED' || seen.sequence > activation.sequence || seen.reason === RETRIED;",
    becomes: 'return false;',
  },
  {
    name: 'a run of a deleted job goes by the one that came after it',
    foundAt: 108,
    file: operation('definition'),
    text: "if (definition.lifeId !== job.lifeId) return { ...definition, state: 'DELETED' };",
    becomes: 'if (definition.lifeId !== job.lifeId) return job;',
  },
  {
    name: 'a payload is read and written anew',
    foundAt: 1,
    file: operation('attempt'),
    text: `    payload,
  });`,
    becomes: `    payload: JSON.stringify(JSON.parse(payload)),
  });`,
  },
];
