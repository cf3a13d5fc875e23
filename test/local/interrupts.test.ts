import { Interrupts } from '../../src/local/interrupts';
import { NOON, SECOND } from '../support/builders';

test('what comes within a second of the first is the same Ctrl-C, and a later one stops at once', () => {
  const interrupts = new Interrupts();
  expect(interrupts.next(NOON)).toBe('finish');
  expect(interrupts.next(NOON)).toBe('ignore');
  expect(interrupts.next(NOON + SECOND - 1)).toBe('ignore');
  expect(interrupts.next(NOON + SECOND)).toBe('stop-at-once');
});
