import type { Account } from './account';
import { countsText, sumOf, type Counts, whole } from './counts';
import type { Leftovers } from './leftovers';
import type { Look } from './looks';
import { HEAD, megabytes, tableText, type Verdict } from './report';

/** All that is known once the system has stopped. */
export interface Soaked {
  account: Account;
  /** what was not as it should be when nothing more was waited for */
  unsettled: readonly string[];
  verdicts: readonly Verdict[];
  leftovers: Leftovers;
  lastLook: Look;
  played: Counts;
  requests: { count: number; slowestMs: number };
  replies: number;
  exitCode: number | null;
  /** what the system said on standard error */
  errors: string;
}

/** Notes of the journal of what must not happen where nothing dies and nothing is cut off. */
const WRONG_NOTES = [
  'dead-letters-not-sent-again',
  'dead-letters-sent-again',
  'hold-not-released',
  'job-not-dispatched',
  'lease-not-renewed',
  'message-left',
  'message-not-removed',
  'next-not-found',
  'not-notified',
  'notice-left',
  'part-dropped',
  'part-not-found',
  'queue-not-read',
  'request-failed',
  'sweep-failed',
  'tick-failed',
  'unique-key-not-freed',
  'visibility-not-renewed',
  'visibility-not-set',
];
const MOST_FAULTS_TOLD = 20;

/** What was lost, what grew, and what else must not be; in sentences. */
export function faultsOf({ account, unsettled, verdicts, leftovers, exitCode, errors }: Soaked): string[] {
  const { notes } = account;
  const dead = Object.entries(leftovers.messages).filter(([queue]) => queue.endsWith('-dead'));
  return [
    ...unsettled,
    ...account.faults(),
    ...verdicts.flatMap(({ fault }) => fault ?? []),
    ...leftovers.faults,
    ...WRONG_NOTES.filter((name) => notes[name] !== undefined).map(
      (name) => `the journal notes ${name}: ${notes[name]}`,
    ),
    ...dead.map(([queue, count]) => `messages lie in ${queue}: ${count}`),
    ...(exitCode === 0 ? [] : [`the system ended with ${exitCode}`]),
    ...(errors === '' ? [] : [`the system said on standard error: ${errors.slice(0, 500)}`]),
  ];
}

export function summaryText(soaked: Soaked): string {
  const { account, verdicts, leftovers, lastLook, played, requests, replies } = soaked;
  const { acknowledged, runs, states, calls, notices, noticesTwice } = account.totals();
  const { measures, store } = lastLook;
  const control = Object.entries(leftovers.control)
    .sort(([, a], [, b]) => b.count - a.count)
    .map(([kind, { count, hours }]) => `${whole(count)} ${kind} (${whole(hours)} h)`);
  const rows = [
    ['jobs', `${whole(acknowledged)} acknowledged; ${whole(runs)} runs: ${countsText(states)}`],
    ['code', `${whole(calls)} calls; ${whole(notices)} notices, ${whole(noticesTwice)} of them more than once`],
    [
      'requests',
      `${whole(requests.count)}, the slowest ${whole(requests.slowestMs)} ms; ${whole(replies)} replies of queues`,
    ],
    ['scenarios', countsText(played)],
    ['journal', countsText(account.notes)],
    ['handles', `${countsText(measures.descriptors)}; ${countsText(measures.resources)}`],
    [
      'store',
      `${megabytes(store.fileBytes)}, ${megabytes(sumOf(store.usedBytes))} in use: ${countsText(store.entries)}`,
    ],
    ['control', control.join(', ')],
    ['messages left', countsText(leftovers.messages)],
  ];
  return `${tableText([HEAD, ...verdicts.map(({ row }) => row)])}\n\n${tableText(rows)}`;
}

/** One clear sentence, after the first of what is wrong. */
export function verdictText(faults: readonly string[]): string {
  const [first] = faults;
  if (first === undefined) return 'Nothing was lost, and nothing grew.';
  const others = faults.length === 1 ? '' : `, and ${whole(faults.length - 1)} more`;
  const told = faults.slice(0, MOST_FAULTS_TOLD).map((fault) => `✗ ${fault}`);
  return `${told.join('\n')}\n\nSomething was lost or grew: ${first}${others}.`;
}
