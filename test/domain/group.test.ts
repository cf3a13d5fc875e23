import type { Group, GroupPart, MemberState } from '../../src/domain/group';
import { memberJobIdOf, tallyOf } from '../../src/domain/group';
import {
  callbacksAtEnd,
  decideEnd,
  decideStop,
  mayBeBroken,
  pendingParts,
  withReport,
} from '../../src/domain/group-head';
import { dealtOut, inOrder } from '../../src/domain/group-order';
import {
  brokenOff,
  decideRevival,
  decideSettle,
  endedWithGroup,
  isBroken,
  reachesPercent,
  turnsOf,
  withSkipped,
  type Outcome,
} from '../../src/domain/group-part';
import { NOON, SECOND } from '../support/builders';

function aPart(states: string, changes: Partial<GroupPart> = {}): GroupPart {
  return { groupId: 'g', partId: '0', revision: 4, states, expiresAt: NOON, ...changes };
}

/** One chain of all jobs of the part. */
const aChain = (states: string, changes: Partial<GroupPart> = {}) =>
  aPart(states, { lengths: [states.length], ...changes });

function anOutcome(index: number, state: MemberState, sequence: number, changes: Partial<Outcome> = {}): Outcome {
  return { index, state, sequence, nominalAt: NOON, changedAt: NOON + SECOND, ...changes };
}

function aGroup(changes: Partial<Group> = {}): Group {
  return {
    groupId: 'g',
    kind: 'batch',
    revision: 7,
    sequence: 1,
    state: 'RUNNING',
    callbacks: {},
    parts: { '0': -1, '1': -1 },
    createdAt: NOON,
    requestDigest: 'digest',
    expiresAt: NOON,
    ...changes,
  };
}

describe('a part', () => {
  type Row = [
    fact: string,
    part: GroupPart,
    outcome: Outcome,
    wanted: { states?: string; turn?: number; skipped?: number[]; revived?: number[]; reason: string },
  ];
  const S = NOON + SECOND;
  const table: Row[] = [
    ['notes what is done', aPart('PP'), anOutcome(1, 'D', 3), { states: 'PD', reason: 'recorded' }],
    ['calls who comes next', aChain('PPP'), anOutcome(0, 'D', 3), { states: 'DPP', turn: 1, reason: 'recorded' }],
    [
      'calls nobody of another chain',
      aPart('PPP', { lengths: [1, 2] }),
      anOutcome(0, 'D', 3),
      { states: 'DPP', reason: 'recorded' },
    ],
    ['calls nobody who is over already', aChain('PCP'), anOutcome(0, 'D', 3), { states: 'DCP', reason: 'recorded' }],
    ['calls again whose call may be lost', aChain('DPP'), anOutcome(0, 'D', 3), { turn: 1, reason: 'repeated' }],
    ['calls nobody twice who is over', aChain('DDP'), anOutcome(0, 'D', 3), { reason: 'repeated' }],
    [
      'skips the rest after a failure',
      aChain('DPPP'),
      anOutcome(1, 'F', 5),
      { states: 'DFSS', skipped: [2, 3], reason: 'recorded' },
    ],
    [
      'skips the rest after what was skipped',
      aChain('PPP'),
      anOutcome(0, 'S', 2),
      { states: 'SSS', skipped: [1, 2], reason: 'recorded' },
    ],
    [
      'skips the rest after what was cancelled',
      aChain('PPP'),
      anOutcome(0, 'C', 3),
      { states: 'CSS', skipped: [1, 2], reason: 'recorded' },
    ],
    [
      'leaves what is over as it is',
      aChain('PPCP'),
      anOutcome(0, 'F', 3),
      { states: 'FSCS', skipped: [1, 3], reason: 'recorded' },
    ],
    [
      'records the rest again where that may be lost',
      aChain('FSS', { sequences: { '0': 5 } }),
      anOutcome(0, 'F', 5),
      { skipped: [1, 2], reason: 'repeated' },
    ],
    [
      'is not told an older failure',
      aChain('PPP', { sequences: { '0': 4 } }),
      anOutcome(0, 'F', 3),
      { reason: 'superseded' },
    ],
    ['is not told a failure of what is done', aPart('DP'), anOutcome(0, 'F', 3), { reason: 'superseded' }],
    [
      'revives the rest with what is sent again',
      aChain('FSS', { sequences: { '0': 5 } }),
      anOutcome(0, 'P', 6),
      { states: 'PPP', revived: [1, 2], reason: 'sent-again' },
    ],
    [
      'revives the rest though it only hears of the success',
      aChain('FSS', { sequences: { '0': 5 } }),
      anOutcome(0, 'D', 8),
      { states: 'DPP', turn: 1, revived: [1, 2], reason: 'recorded' },
    ],
    [
      'revives nothing beyond what a person cancelled',
      aChain('FSCS', { sequences: { '0': 5 } }),
      anOutcome(0, 'P', 6),
      { states: 'PPCS', revived: [1], reason: 'sent-again' },
    ],
    [
      'hears of a retry before the failure',
      aChain('PPP'),
      anOutcome(0, 'P', 6),
      { states: 'PPP', reason: 'sent-again' },
    ],
    [
      'hears of the next failure only',
      aChain('FSS', { sequences: { '0': 5 } }),
      anOutcome(0, 'F', 9),
      { states: 'FSS', reason: 'recorded' },
    ],
    [
      'is not told what a run of another life came to',
      aPart('PP', { nominalAts: { '0': S } }),
      anOutcome(0, 'S', 2),
      { reason: 'of-another-life' },
    ],
    [
      'is told what the run of this life came to',
      aPart('PP', { nominalAts: { '0': S } }),
      anOutcome(0, 'D', 2, { nominalAt: S }),
      { states: 'DP', reason: 'recorded' },
    ],
    ['knows no such place', aPart('P'), anOutcome(5, 'D', 2), { reason: 'of-another-life' }],
  ];
  test.each(table)('%s', (_fact, part, outcome, { states, turn, skipped = [], revived = [], reason }) => {
    const settled = decideSettle(part, outcome);
    expect(settled.next?.states).toBe(states);
    expect(settled.next?.revision).toBe(states === undefined ? undefined : part.revision + 1);
    expect(settled.turn).toBe(turn);
    expect(settled.skipped).toEqual(skipped);
    expect(settled.revived).toEqual(revived);
    expect(settled.reason).toBe(reason);
  });

  test('told the same twice writes nothing the second time', () => {
    for (const [, part, outcome] of table) {
      const { next } = decideSettle(part, outcome);
      if (next) expect(decideSettle(next, outcome).next).toBeUndefined();
    }
  });

  test('keeps a sequence only where a job failed or was sent again', () => {
    const failed = decideSettle(aPart('PP'), anOutcome(0, 'F', 5)).next!;
    expect(failed.sequences).toEqual({ '0': 5 });
    const again = decideSettle(failed, anOutcome(0, 'P', 6)).next!;
    expect(again.sequences).toEqual({ '0': 6 });
    expect(decideSettle(again, anOutcome(0, 'D', 8)).next).not.toHaveProperty('sequences');
  });

  test('gives a revived job another nominal instant each time, even within one millisecond', () => {
    const first = decideSettle(
      aChain('FS', { sequences: { '0': 5 } }),
      anOutcome(0, 'P', 6, { changedAt: NOON }),
    ).next!;
    expect(first.nominalAts).toEqual({ '1': NOON + 1 });
    const failed = decideSettle(first, anOutcome(0, 'F', 8)).next!;
    const second = decideSettle(failed, anOutcome(0, 'P', 9, { changedAt: NOON })).next!;
    expect(second.nominalAts).toEqual({ '1': NOON + 2 });
  });

  test('knows whose turn it is in each of its chains', () => {
    const part = aPart('DPPDFSPD', { lengths: [3, 3, 1, 1] });
    expect(turnsOf(part)).toEqual([{ index: 1, previous: 0 }, { index: 6 }]);
  });

  test('knows where its chains broke off by themselves', () => {
    expect(brokenOff(aPart('DSSFSCSDSP', { lengths: [3, 2, 2, 1, 1, 1] }))).toEqual([1, 5, 8]);
    expect(isBroken([aPart('DCS', { lengths: [3] })])).toBe(false);
    expect(isBroken([aPart('DD'), aPart('DS')])).toBe(true);
    expect(isBroken([aPart('DF')])).toBe(true);
  });

  test('puts a chain that was stopped on its way again from where it broke off', () => {
    const next = decideRevival(aPart('DCSSDSF', { lengths: [4, 2, 1] }), [1, 5], S, NOON);
    expect(next).toMatchObject({ states: 'DPPPDPF', revision: 5, nominalAts: { '1': S, '2': S, '3': S, '5': S } });
  });

  test('marks as skipped only what is pending still, in the same life', () => {
    const part = aPart('PDPP', { nominalAts: { '3': S } });
    const runs = [0, 1, 3].map((index) => ({ index, nominalAt: NOON }));
    expect(withSkipped(part, runs, NOON)).toMatchObject({ states: 'SDPP', revision: 5 });
    expect(withSkipped(aPart('SD'), runs.slice(0, 2), NOON)).toBeUndefined();
  });

  test('looks after its percents only, and no other part does', () => {
    const parts = ['0', '1', '2'].map((partId) => aPart('P'.repeat(50), { partId, progressParts: 3 }));
    const at = (part: GroupPart, done: number) => ({ ...part, states: 'D'.repeat(done) + 'P'.repeat(50 - done) });
    const looked = parts.map((part) =>
      Array.from({ length: 50 }, (_, done) => done).filter((done) =>
        reachesPercent(at(part, done), at(part, done + 1)),
      ),
    );
    const all = looked.flat();
    expect(all.length).toBeGreaterThan(50);
    expect(all.length).toBeLessThan(150);
    expect(reachesPercent(aPart('PP'), aPart('DD'))).toBe(false);
  });

  test.each([
    ['batch-cancelled', true],
    ['cancelled: chain-cancelled', true],
    ['chain-stopped', false],
    ['unique', false],
    [undefined, false],
  ])('a run of the reason %s ended with its group: %s', (reason, ended) => {
    expect(endedWithGroup(reason === undefined ? {} : { reason })).toBe(ended);
  });
});

describe('a head', () => {
  const settled = (partId: string, states = 'DD', revision = 5) => aPart(states, { partId, revision });

  test('hears of a part once, and of nothing older', () => {
    const heard = withReport(aGroup(), settled('0'), false)!;
    expect(heard.parts).toEqual({ '0': 5, '1': -1 });
    expect(withReport(heard, settled('0'), false)).toBeUndefined();
    expect(withReport(heard, settled('0', 'PP', 4), false)).toBeUndefined();
    expect(withReport(aGroup(), settled('9'), false)).toBeUndefined();
  });

  test('need not hear of a part in which something is still pending', () => {
    expect(withReport(aGroup(), settled('0', 'PD'), false)).toBeUndefined();
  });

  test('goes on when something is pending again, and forgets that it was stopped', () => {
    const over = aGroup({ parts: { '0': 5, '1': 2 }, state: 'FAILED', sequence: 2, finishedAt: NOON, stoppedAt: NOON });
    const heard = withReport(over, settled('0', 'PS', 6), true)!;
    expect(heard).toMatchObject({ state: 'RUNNING', sequence: 3, parts: { '0': -6, '1': 2 } });
    expect(heard.finishedAt).toBeUndefined();
    expect(heard.stoppedAt).toBeUndefined();
  });

  test('stays cancelled whatever is pending again', () => {
    const over = aGroup({ parts: { '0': 5 }, state: 'CANCELLED', sequence: 2, finishedAt: NOON, cancelledAt: NOON });
    expect(withReport(over, settled('0', 'PS', 6), true)).toMatchObject({ state: 'CANCELLED', sequence: 2 });
  });

  test.each([
    ['DONE', {}, 'DD', 'DD'],
    ['FAILED', {}, 'DD', 'DF'],
    ['FAILED', {}, 'SD', 'DD'],
    ['FAILED', {}, 'CD', 'DD'],
    ['DONE', { allowFailures: true }, 'SF', 'DC'],
    ['CANCELLED', { cancelledAt: NOON, state: 'CANCELLED' as const }, 'DD', 'DD'],
  ])('ends %s', (state, changes: Partial<Group>, first: string, second: string) => {
    const head = aGroup({ ...changes, parts: { '0': 5, '1': 5 } });
    expect(decideEnd(head, [settled('0', first), settled('1', second)], NOON)).toMatchObject({
      state,
      finishedAt: NOON,
    });
  });

  test('does not end by parts that are newer, older or missing', () => {
    const head = aGroup({ parts: { '0': 5, '1': 5 } });
    expect(decideEnd(head, [settled('0'), settled('1', 'DD', 6)], NOON)).toBeUndefined();
    expect(decideEnd(head, [settled('0')], NOON)).toBeUndefined();
    expect(decideEnd(aGroup({ parts: { '0': 5, '1': -5 } }), [settled('0'), settled('1')], NOON)).toBeUndefined();
  });

  test('ends once', () => {
    const parts = [settled('0'), settled('1')];
    const ended = decideEnd(aGroup({ parts: { '0': 5, '1': 5 } }), parts, NOON)!;
    expect(ended.sequence).toBe(2);
    expect(decideEnd(ended, parts, NOON + SECOND)).toBeUndefined();
  });

  test.each([
    ['a chain', { kind: 'chain' as const }],
    ['a batch that allows failures', { allowFailures: true }],
    ['a batch that is over', { state: 'FAILED' as const }],
    ['a batch that is stopped already', { stoppedAt: NOON - 1 }],
  ])('%s is not stopped by a failure', (_, changes) => {
    expect(decideStop(aGroup(changes), NOON)).toBeUndefined();
  });

  test('a batch is stopped by its first failure', () => {
    expect(decideStop(aGroup(), NOON)).toMatchObject({ stoppedAt: NOON, state: 'RUNNING', sequence: 1 });
    expect(pendingParts(aGroup({ parts: { '0': -3, '1': 4, '2': -1 } }))).toEqual(['0', '2']);
  });

  test('calls at its end what is due then, and nothing that was not asked for', () => {
    const callbacks = { then: 'then', catch: 'catch', finally: 'finally', progress: 'progress' };
    expect(callbacksAtEnd(aGroup({ callbacks, state: 'DONE' }), false)).toEqual(['progress', 'then', 'finally']);
    expect(callbacksAtEnd(aGroup({ callbacks, state: 'FAILED' }), true)).toEqual(['progress', 'catch', 'finally']);
    expect(callbacksAtEnd(aGroup({ callbacks, state: 'DONE', parts: {} }), false)).toEqual(['then', 'finally']);
    expect(callbacksAtEnd(aGroup({ state: 'DONE' }), false)).toEqual([]);
    expect(mayBeBroken(aGroup({ callbacks, state: 'CANCELLED' }))).toBe(false);
    expect(mayBeBroken(aGroup({ callbacks, state: 'DONE' }))).toBe(false);
    expect(mayBeBroken(aGroup({ callbacks, state: 'DONE', allowFailures: true }))).toBe(true);
  });
});

describe('jobs that are dealt out', () => {
  const members = Array.from({ length: 250 }, (_, nth) => (nth % 50 === 0 ? [nth, -nth] : [nth]));

  test('come in parts of about a hundred, neighbours in different ones, chains whole', () => {
    const parts = dealtOut(members);
    expect(parts.map((part) => part.flat().length)).toEqual([85, 85, 85]);
    expect(parts[1]!.slice(0, 2)).toEqual([[1], [3]]);
    expect(parts.flat()).toHaveLength(250);
    expect(dealtOut([])).toEqual([]);
  });

  test('come back in their order, what was added later at the end', () => {
    const dealt = (prefix: string, all: readonly (readonly number[])[]) =>
      dealtOut(all).map((hand, nth) => ({
        part: aPart('P'.repeat(hand.flat().length), {
          partId: `${prefix}${nth}`,
          lengths: hand.map(({ length }) => length),
        }),
        jobs: hand.flat(),
      }));
    const hands = [...dealt('', members), ...dealt('ab-', [[1_000], [1_001]])];
    const order = inOrder(hands.map(({ part }) => part)).map(
      ({ part, index }) => hands.find((hand) => hand.part === part)!.jobs[index],
    );
    expect(order).toEqual([...members.flat(), 1_000, 1_001]);
  });

  test('have ids of their own', () => {
    const ids = ['0', '1'].flatMap((partId) =>
      [0, 1].flatMap((index) => ['g', 'h'].map((groupId) => memberJobIdOf(aPart('PP', { groupId, partId }), index))),
    );
    expect(new Set(ids).size).toBe(8);
    expect(memberJobIdOf(aPart('PP', { jobIds: { '1': 'mine' } }), 1)).toBe('mine');
  });
});

test('percent is rounded down, and of nothing it is 100', () => {
  expect(tallyOf([{ states: 'DFSCPPP' }])).toEqual({
    total: 7,
    pending: 3,
    done: 1,
    failed: 1,
    skipped: 1,
    cancelled: 1,
    percent: 57,
  });
  expect(tallyOf([]).percent).toBe(100);
});
