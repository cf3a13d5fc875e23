import { functionArn } from '../support/builders';
import { Chance } from './chance';
import type { CodePlan } from './functions';

/** Something that somebody asks of the system, at an instant in ms since the start. */
export type Operation = { at: number; requestId: string } & (
  | { kind: 'create'; jobId: string; body: string; by: 'api' | 'queue' | 'bulk' }
  | { kind: 'edit'; jobId: string; body: string }
  | { kind: 'pause' | 'resume' | 'delete' | 'trigger' | 'backfill' | 'cancel' | 'retry' | 'forget'; jobId: string }
  | { kind: 'delete-by-queue'; jobId: string }
  | { kind: 'complete' | 'beat'; jobId: string; runId: string }
  | { kind: 'retry-all' | 'flush' }
  | { kind: 'chain' | 'batch'; body: string }
  | { kind: 'cancel-group' | 'retry-group' | 'add'; group: string; body?: string }
  | { kind: 'subscribe'; jobId: string; state: string; subscriber: string; by: 'api' | 'queue' }
  | { kind: 'unsubscribe'; jobId: string; subscribed: string }
);

/** Operations are asked for within so long; then some minutes more of faults, and then everything comes to rest. */
export const OPERATIONS_MS = 600_000;

/** JSON that a parser would change: it must come to the code as it was written. */
const DELICATE = [
  '1.0',
  '12345678901234567890',
  '-0',
  '1E+2',
  '"\\u00e9é"',
  '"\\ud83d\\ude00"',
  '{"b":1,"a":2,"a":3}',
  '[ 1 ,2]',
];

const STATES = ['SCHEDULED', 'STARTED', 'RELEASED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED'];

/** What is asked for in the history of this seed. */
export function planOf(seed: number): Operation[] {
  const chance = new Chance(seed, 'plan');
  const operations: Operation[] = [];
  let requests = 0;
  const ask = (operation: Record<string, unknown> & { kind: string; at: number }) =>
    operations.push({ requestId: `r${++requests}`, ...operation } as Operation);

  const jobs = chance.between(1, 4);
  for (let job = 0; job < jobs; job++) planJob(`job-${job}`, chance, ask);
  if (chance.isHit(0.1)) planCrowd(chance, ask);
  const groups = chance.pick([0, 0, 1, 1, 2]);
  for (let group = 0; group < groups; group++) planGroup(`${group}`, chance, ask);
  if (chance.isHit(0.3)) {
    const requestId = `all-${chance.between(1, 9)}`;
    ask({
      kind: 'subscribe',
      requestId,
      at: chance.between(0, 200_000),
      jobId: '*',
      state: chance.pick([...STATES, 'BATCH_DONE', 'CHAIN_FAILED']),
      subscriber: 'hears-all',
      by: 'api',
    });
    if (chance.isHit(0.4))
      ask({ kind: 'unsubscribe', at: chance.between(200_000, OPERATIONS_MS), jobId: '*', subscribed: requestId });
  }
  if (groups > 0) planGroupListener(new Chance(seed, 'plan of the listener to groups'), ask);
  for (const kind of ['retry-all', 'flush'] as const) {
    if (chance.isHit(0.15)) ask({ kind, at: chance.between(100_000, OPERATIONS_MS) });
  }
  return operations.sort((a, b) => a.at - b.at);
}

type Ask = (operation: Record<string, unknown> & { kind: string; at: number }) => void;

function planJob(jobId: string, chance: Chance, ask: Ask): void {
  const createdAt = chance.between(0, 150_000);
  const isOnce = chance.isHit(0.5);
  ask({
    kind: 'create',
    at: createdAt,
    jobId,
    body: jobText(jobId, isOnce, chance),
    by: chance.pick(['api', 'api', 'queue', 'bulk']),
  });
  const subscriptions = chance.pick([0, 0, 1, 2]);
  for (let one = 0; one < subscriptions; one++) {
    const requestId = `${jobId}-s${one}`;
    const at = createdAt + chance.between(500, 120_000);
    ask({
      kind: 'subscribe',
      requestId,
      at,
      jobId,
      state: chance.pick(STATES),
      subscriber: `subscriber-${one}`,
      by: chance.pick(['api', 'queue']),
    });
    if (chance.isHit(0.3))
      ask({ kind: 'unsubscribe', at: at + chance.between(10_000, 200_000), jobId, subscribed: requestId });
  }
  const changes = chance.pick([0, 0, 1, 2, 3, 4]);
  for (let change = 0; change < changes; change++) {
    // Half of them soon after, when what was sent first is still on its way.
    const at = chance.isHit(0.5)
      ? createdAt + chance.mostlySmall(100, 120_000)
      : chance.between(createdAt + 100, OPERATIONS_MS);
    const kind = chance.pick([
      'edit',
      'edit',
      'pause',
      'resume',
      'resume',
      'delete',
      'delete-by-queue',
      'trigger',
      'trigger',
      'backfill',
      'cancel',
      'cancel',
      'retry',
      'retry',
      'forget',
      'create',
    ] as const);
    if (kind === 'edit') ask({ kind, at, jobId, body: editText(isOnce, chance) });
    else if (kind === 'create') ask({ kind, at, jobId, body: jobText(jobId, chance.isHit(0.5), chance), by: 'api' });
    else ask({ kind, at, jobId });
    if (kind === 'pause') ask({ kind: 'resume', at: at + chance.between(50, 100_000), jobId });
    if (kind === 'delete' && chance.isHit(0.5)) {
      const isOnceNow = chance.isHit(0.5);
      ask({
        kind: 'create',
        at: at + chance.between(10, 60_000),
        jobId,
        body: jobText(jobId, isOnceNow, chance),
        by: 'api',
      });
    }
  }
}

/** Many that fall due in the same seconds, and are found by the due index. */
function planCrowd(chance: Chance, ask: Ask): void {
  const at = chance.between(0, 100_000);
  for (let one = 0; one < 10; one++) {
    const body = textOf({ jobId: `crowd-${one}`, delaySeconds: 905 }, payloadText(chance, {}));
    ask({ kind: 'create', at: at + one, jobId: `crowd-${one}`, body, by: 'api' });
  }
}

function planGroup(group: string, chance: Chance, ask: Ask): void {
  const at = chance.between(0, 200_000);
  const kind = chance.pick(['chain', 'batch', 'batch'] as const);
  const requestId = `group-${group}`;
  ask({ kind, at, requestId, body: kind === 'chain' ? chainText(chance) : batchText(chance) });
  if (chance.isHit(0.25)) ask({ kind: 'cancel-group', at: at + chance.mostlySmall(100, 200_000), group: requestId });
  if (chance.isHit(0.4)) ask({ kind: 'retry-group', at: at + chance.between(20_000, 300_000), group: requestId });
  if (kind === 'batch' && chance.isHit(0.5)) {
    const body = `{"jobs":[${memberTexts(chance, chance.between(1, 3)).join(',')}]}`;
    ask({ kind: 'add', at: at + chance.mostlySmall(100, 60_000), group: requestId, body });
  }
}

/** From before there is any: of the few groups of a history hardly one ends while somebody listens to just that state. */
function planGroupListener(chance: Chance, ask: Ask): void {
  if (!chance.isHit(0.5)) return;
  const state = chance.pick(['CHAIN_DONE', 'CHAIN_FAILED', 'BATCH_DONE', 'BATCH_FAILED', 'BATCH_CANCELLED']);
  ask({ kind: 'subscribe', requestId: 'groups', at: 0, jobId: '*', state, subscriber: 'hears-groups', by: 'api' });
}

function chainText(chance: Chance): string {
  const members = memberTexts(chance, chance.between(1, 4));
  const callback = chance.isHit(0.7) ? `,"catch":${target('on-catch')}` : '';
  return `{"jobs":[${members.join(',')}]${callback}}`;
}

function batchText(chance: Chance): string {
  const members = Array.from({ length: chance.pick([0, 1, 2, 3, 5, 8]) }, () => {
    const length = chance.pick([1, 1, 1, 2, 3]);
    const texts = memberTexts(chance, length);
    return length === 1 ? texts[0]! : `[${texts.join(',')}]`;
  });
  const callbacks = ['then', 'catch', 'finally', 'progress'].filter(() => chance.isHit(0.7));
  const called = callbacks.map((which) => `,"${which}":${target(`on-${which}`)}`).join('');
  return `{"jobs":[${members.join(',')}]${called}${chance.isHit(0.4) ? ',"allowFailures":true' : ''}}`;
}

function memberTexts(chance: Chance, count: number): string[] {
  return Array.from({ length: count }, () => {
    const delay = chance.isHit(0.2) ? { delaySeconds: chance.pick([0.5, 3, 40, 1_000]) } : {};
    const fields = { ...delay, ...policies(chance, 0.15), retry: retryOf(chance) };
    return textOf(fields, payloadText(chance, { mayAdd: true }));
  });
}

function jobText(jobId: string, isOnce: boolean, chance: Chance): string {
  const when = isOnce
    ? chance.pick([
        {},
        { delaySeconds: 0.5 },
        { delaySeconds: 20.4 },
        { delaySeconds: 75 },
        { delaySeconds: 300 },
        { delaySeconds: 899 },
        { delaySeconds: 901 },
        { delaySeconds: 1_500 },
        { schedule: 'at(2027-05-04T12:05:00)' },
      ])
    : { schedule: chance.pick(SCHEDULES), ...recurrence(chance) };
  const fields = {
    jobId,
    ...when,
    ...policies(chance, 0.2),
    retry: retryOf(chance),
    timeoutSeconds: chance.pick([10, 100, 840]),
  };
  return textOf(fields, payloadText(chance, {}));
}

const SCHEDULES = [
  'rate(10 seconds)',
  'rate(30 seconds)',
  'rate(1 minute)',
  'rate(85 seconds)',
  'rate(130 seconds)',
  'cron(*/20 * * * * ? *)',
  '* * * * *',
];

function recurrence(chance: Chance) {
  return {
    ...(chance.isHit(0.4) ? { overlap: chance.pick(['skip', 'queue-one', 'cancel-previous']) } : {}),
    ...(chance.isHit(0.5)
      ? { misfire: { policy: chance.pick(['run-once', 'run-all', 'skip']), graceSeconds: chance.pick([5, 10, 60]) } }
      : {}),
    ...(chance.isHit(0.2) ? { maxRuns: chance.between(1, 12) } : {}),
    ...(chance.isHit(0.2) ? { jitterSeconds: chance.pick([5, 30]) } : {}),
  };
}

/** What shares a key has the same limit: each is judged by its own, so that one that allows more may begin beside one that allows less. */
const CONCURRENCY_LIMITS = [
  { key: 'c1', limit: 1 },
  { key: 'c2', limit: 2 },
];

/** What shares a key counts over the same period. */
const RATE_LIMITS = [
  { key: 'l1', limit: 1, perSeconds: 5 },
  { key: 'l3', limit: 3, perSeconds: 20 },
];

function policies(chance: Chance, often: number) {
  return {
    ...(chance.isHit(often)
      ? { unique: { key: 'u1', forSeconds: chance.pick([30, 600, 3_600]), until: chance.pick(['start', 'done']) } }
      : {}),
    ...(chance.isHit(often) ? { concurrency: chance.pick(CONCURRENCY_LIMITS) } : {}),
    ...(chance.isHit(often) ? { rateLimit: chance.pick(RATE_LIMITS) } : {}),
    ...(chance.isHit(0.2) ? { priority: 'high' } : {}),
    ...(chance.isHit(0.15) ? { completion: 'callback', heartbeatSeconds: chance.pick([20, 90]) } : {}),
  };
}

function retryOf(chance: Chance) {
  const seconds = chance.pick([0, 2, 10, 30, 1_000]);
  return { maxAttempts: chance.pick([1, 2, 3, 4]), backoff: { kind: 'fixed', seconds } };
}

function editText(isOnce: boolean, chance: Chance): string {
  const fields = {
    ...(chance.isHit(0.5) && !isOnce ? { schedule: chance.pick(SCHEDULES) } : {}),
    ...(chance.isHit(0.3) ? { retry: retryOf(chance) } : {}),
    ...(chance.isHit(0.2) ? { target: { functionArn: functionArn('job-other') } } : {}),
  };
  return textOf({ name: `edit ${chance.between(1, 99)}`, ...fields }, payloadText(chance, {}), 'whole');
}

function payloadText(chance: Chance, { mayAdd = false }: { mayAdd?: boolean }): string {
  const plan: CodePlan = {
    ms: chance.pick([5, 50, 500, 3_000, 20_000, 100_000]),
    fails: chance.pick([0, 0, 0, 1, 2, 9]),
    how: chance.pick(['error', 'error', 'error', 'final', 'snooze']),
    ...(chance.isHit(0.85)
      ? {
          completes: {
            afterMs: chance.mostlySmall(1, 60_000),
            as: chance.pick(['returned', 'returned', 'failed'] as const),
            ...(chance.isHit(0.5) ? { beatsEveryMs: 8_000 } : {}),
          },
        }
      : {}),
    ...(mayAdd && chance.isHit(0.25) ? { adds: chance.between(1, 3) } : {}),
  };
  return `{"plan":${JSON.stringify(plan)},"exact":${chance.pick(DELICATE)}}`;
}

/** Written by hand, since the payload has to stay the text that it is. */
function textOf(fields: object, payload: string, form: 'job' | 'whole' = 'job'): string {
  const head = form === 'job' ? { target: { functionArn: functionArn('job-report') }, ...fields } : fields;
  return `${JSON.stringify(head).slice(0, -1)},"payload":${payload}}`;
}

function target(name: string): string {
  return JSON.stringify({ functionArn: functionArn(name) });
}
