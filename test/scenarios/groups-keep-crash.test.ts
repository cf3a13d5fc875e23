import { aBatch, callbackCounts, GroupOf, ok, steps, tries } from '../support/groups';
import { groupIdOf } from '../../src/domain/group';
import { createGroup } from '../../src/operations/create-group';
import { DAY, HOUR, MINUTE, NOON } from '../support/builders';
import { doomedProcess } from '../support/crashing-ports';
import { aRequest, World, type Code } from '../support/world';

const waits: Code = ({ at }) => {
  if (at < NOON + HOUR) throw Object.assign(new Error(String(80 * 86_400)), { name: 'RetryAfterError' });
};

test.each(['before', 'after'] as const)(
  'C2: a process that dies %s any call of the snoozing attempt',
  async (when) => {
    const wrong: string[] = [];
    for (let at = 1, hasCrashed = true; (hasCrashed || at < 20) && at < 300; at++) {
      let mayWait = false;
      const world = await World.open({
        code: {
          'on-then': ok,
          'on-catch': ok,
          'on-finally': ok,
          b: ok,
          a: (call, clock) => {
            if (!mayWait) throw Object.assign(new Error('60'), { name: 'RetryAfterError' });
            return waits(call, clock);
          },
        },
      });
      try {
        const members = [
          [aRequest({ code: 'a', retry: tries(5) }), ...steps('b')],
          ...Array.from({ length: 100 }, () => steps('b')),
        ];
        await createGroup('batch', 'r1', aBatch(members), world.ports);
        const group = new GroupOf(world, { groupId: groupIdOf('batch', 'r1'), kind: 'batch' });
        let engine = world.start();
        await world.clock.advance(30_000);
        await world.stop(engine);
        mayWait = true;
        const doomed = doomedProcess(world.ports, at, when);
        engine = world.start(doomed.ports);
        for (let s = 0; s < 90 && !doomed.hasCrashed(); s++) await world.clock.advance(1_000);
        hasCrashed = doomed.hasCrashed();
        await world.stop(engine);
        if (hasCrashed) await world.takeOver();
        engine = world.start();
        await world.clock.advance(40 * MINUTE);
        await world.stop(engine);
        await world.clock.advance(81 * DAY);
        await world.sweepExpired();
        engine = world.start();
        await world.clock.advance(HOUR);
        await world.stop(engine);
        const states = await group.states();
        if (!/^D{102}$/.test(states)) throw new Error(`${states.length} ${states.slice(0, 4)}`);
        const { state } = (await group.standing()).group;
        if (state !== 'DONE') throw new Error(state);
        const counts = callbackCounts(world);
        if (counts['on-then'] !== 1) throw new Error(JSON.stringify(counts));
      } catch (error) {
        wrong.push(`at ${at}: ${(error as Error).message}`);
      } finally {
        await world.close();
      }
    }
    expect(wrong).toEqual([]);
  },
  300_000,
);
