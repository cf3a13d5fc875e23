import fc from 'fast-check';
import { VisibilityHeap, type Waiting } from '../../../src/adapters/local/visibility-heap';

test('whatever comes and goes, the first is the earliest, and of one instant the one that came first', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 0, max: 9 }) }),
    fc.record({ take: fc.nat({ max: 30 }) }),
    fc.constant('take the first' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const heap = new VisibilityHeap<Waiting>();
      const all: Waiting[] = [];
      let inside: Waiting[] = [];
      const take = (item: Waiting | undefined): void => {
        if (item === undefined) return;
        heap.take(item);
        inside = inside.filter((other) => other !== item);
      };
      for (const each of steps) {
        if (each === 'take the first') take(heap.first);
        else if ('take' in each) take(all[each.take]);
        else {
          const item = { visibleAt: each.add, order: all.length, position: -1 };
          all.push(item);
          inside.push(item);
          heap.add(item);
        }
        const [earliest] = [...inside].sort((one, other) => one.visibleAt - other.visibleAt || one.order - other.order);
        expect(heap.first).toBe(earliest);
      }
    }),
  );
});
