import { createGroup, addToBatch } from '../../src/operations/create-group';
import { advancePart, parsePartWork, type PartWork } from '../../src/operations/advance-part';
import { listMembers } from '../../src/operations/read-group';
import { settleMember } from '../../src/operations/settle-member';
import { callbackJobIdOf, startCallback } from '../../src/operations/start-callback';
import { refuseMember } from '../../src/operations/refuse-member';
import { ConflictError, InputError } from '../../src/domain/errors';
import { tallyOf } from '../../src/domain/group';
import { InvalidCursorError } from '../../src/ports';
import { aStartedRun, functionArn, MINUTE, NOON, SECOND } from '../support/builders';
import { doomedProcess } from '../support/crashing-ports';
import { aBatch, aChain, altered, GroupOf, steps } from '../support/groups';
import { aRequest, World } from '../support/world';

let world: World;
beforeEach(async () => {
  world = await World.open({ code: { a: () => 'ok', 'on-finally': () => 'ok' } });
});
afterEach(() => world.close());

const singles = (count: number) => Array.from({ length: count }, () => steps('a'));
const counted = () => Promise.resolve({ tally: tallyOf([]) });

test('creating a batch takes few calls for many jobs', async () => {
  const counting = doomedProcess(world.ports, 0, 'before');
  await createGroup('batch', 'r1', aBatch(singles(1_000)), counting.ports);
  const counts = new Map<string, number>();
  for (const call of counting.calls) counts.set(call, (counts.get(call) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toEqual({
    'groups.read': 1,
    'control.put': 1,
    'control.read': 1,
    'code.put': 1,
    'jobs.putAll': 1,
    'groups.putPart': 10,
    'highActivations.send': 1,
    'groups.put': 1,
    'groups.readParts': 1,
  });
});

test('jobs of a batch and of a chain are told with the field they stand in', async () => {
  const narrow = { ...world.ports, settings: { ...world.ports.settings, allowedFunctions: ['job-*'] } };
  const members = [steps('job-a'), steps('job-a', 'other'), steps('other')];
  const refused = createGroup(
    'batch',
    'r1',
    aBatch(members, { callbacks: { progress: functionArn('other') } }),
    narrow,
  );
  await refused.catch((error: InputError) =>
    expect(error.errors.map(({ field }) => field)).toEqual([
      'jobs[1][1].target.functionArn',
      'jobs[2].target.functionArn',
      'progress.functionArn',
    ]),
  );
  await expect(refused).rejects.toThrow(InputError);
});

test('a batch cannot grow beyond what one may hold', async () => {
  const batch = await GroupOf.create(world, 'batch', aBatch(singles(9_999)));
  await expect(addToBatch(batch.groupId, 'more', singles(2), world.ports)).rejects.toThrow(InputError);
  const { tally } = await addToBatch(batch.groupId, 'one', singles(1), world.ports);
  expect(tally.total).toBe(10_000);
});

test('a job of a group says what to cancel instead of it', async () => {
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a')));
  const [member] = await chain.members();
  const [row] = await world.ports.jobs.readRows([member!.jobId]);
  expect(row).toMatchObject({ member: { groupId: chain.groupId, kind: 'chain', index: 0 }, schedule: { at: NOON } });
  expect(row!.dueAt).toBeUndefined();
  expect(() => refuseMember(row!, 'deleted')).toThrow(ConflictError);
  expect(() => refuseMember(row!, 'deleted')).toThrow(`/chains/${chain.groupId}/cancel`);
});

describe('work on a part', () => {
  const work: PartWork = { version: 1, kind: 'part', groupId: 'g', partId: '0' };

  test('is read back as it was written, and nothing else is taken for it', () => {
    expect(parsePartWork(JSON.stringify(work))).toEqual(work);
    expect(parsePartWork(JSON.stringify({ ...work, waitingSince: NOON }))).toEqual({ ...work, waitingSince: NOON });
    for (const body of [
      '',
      '{}',
      '[]',
      '{"version":2,"kind":"part","groupId":"g","partId":"0"}',
      '{"version":1,"kind":"part"}',
    ]) {
      expect(parsePartWork(body)).toBeUndefined();
    }
  });

  test('waits for a head that is not there yet, and is dropped after a minute', async () => {
    await world.untilOver(advancePart(work, world.clock.now(), world.ports));
    await world.clock.advance(3 * SECOND);
    const [again] = await world.ports.highActivations.receive(1);
    expect(parsePartWork(again!.body)).toEqual({ ...work, waitingSince: NOON });
    await world.ports.highActivations.remove([again!.receipt]);
    await world.clock.advance(MINUTE);
    await world.untilOver(advancePart(parsePartWork(again!.body)!, again!.sentAt, world.ports));
    await world.clock.advance(MINUTE);
    expect(await world.ports.highActivations.receive(1)).toEqual([]);
    expect(world.notes.map(({ what }) => what)).toContain('part-dropped');
  });
});

test('a run whose part is gone is settled in vain', async () => {
  const chain = await GroupOf.create(world, 'chain', aChain(steps('a')));
  const [member] = await chain.members();
  const [row] = await world.ports.jobs.readRows([member!.jobId]);
  const lost = { ...row!, member: { ...row!.member!, partId: 'gone' } };
  await settleMember({ ...aStartedRun(), state: 'DONE' }, lost, world.ports);
  expect(await chain.states()).toBe('P');
});

describe('a callback', () => {
  test('whose message was given up before its job was written is called all the same, once', async () => {
    const { group } = await createGroup('batch', 'r1', aBatch([], { callbacks: {} }), world.ports);
    const called = { ...group, callbacks: { finally: functionArn('on-finally') } };
    const jobs = altered(world.ports.jobs, { put: () => Promise.reject(new Error('died')) });
    await expect(startCallback(called, 'finally', counted, { ...world.ports, jobs })).rejects.toThrow('died');
    world.start();
    await world.clock.advance(3 * MINUTE);
    const [fence] = await world.ports.jobs.readRows([callbackJobIdOf(group.groupId, 'finally')]);
    expect(fence).toMatchObject({ state: 'DELETED', generations: [] });
    await startCallback(called, 'finally', counted, world.ports);
    await startCallback(called, 'finally', counted, world.ports);
    await world.clock.advance(3 * MINUTE);
    expect(world.callsOf('on-finally')).toHaveLength(1);
  });

  test('that two processes start at the same time is called once', async () => {
    const { group } = await createGroup('batch', 'r1', aBatch([], { callbacks: {} }), world.ports);
    const called = { ...group, callbacks: { finally: functionArn('on-finally') } };
    const blind = { ...world.ports, jobs: altered(world.ports.jobs, { readRows: () => Promise.resolve([]) }) };
    await startCallback(called, 'finally', counted, blind);
    await world.clock.advance(SECOND);
    await startCallback(called, 'finally', counted, blind);
    world.start();
    await world.clock.advance(5 * MINUTE);
    expect(world.callsOf('on-finally')).toHaveLength(1);
    expect(await world.runsOf(callbackJobIdOf(group.groupId, 'finally'))).toMatchObject([{ state: 'DONE' }]);
  });
});

test('the jobs of a batch come in pages, in their order', async () => {
  const members = Array.from({ length: 7 }, (_, nth) => [aRequest({ code: 'a', jobId: `j${nth}` })]);
  const { groupId } = await GroupOf.create(world, 'batch', aBatch(members));
  const first = await listMembers({ kind: 'batch', groupId, limit: 3 }, world.ports);
  const second = await listMembers({ kind: 'batch', groupId, limit: 3, cursor: first.cursor! }, world.ports);
  const third = await listMembers({ kind: 'batch', groupId, limit: 3, cursor: second.cursor! }, world.ports);
  const ids = [first, second, third].map(({ items }) => items.map(({ jobId }) => jobId));
  expect(ids).toEqual([['j0', 'j1', 'j2'], ['j3', 'j4', 'j5'], ['j6']]);
  expect(third.cursor).toBeUndefined();
  const bad = listMembers({ kind: 'batch', groupId, limit: 3, cursor: 'nonsense' }, world.ports);
  await expect(bad).rejects.toThrow(InvalidCursorError);
});
