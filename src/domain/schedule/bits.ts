import type { Bits } from './schedule';

/** A set of whole numbers from 0 to `max`. */
export function bitsOf(values: Iterable<number>, max: number): Bits {
  const words = new Array<number>((max >> 5) + 1).fill(0);
  for (const value of values) words[value >> 5]! |= 1 << (value & 31);
  return words;
}

export function hasBit(bits: Bits, value: number): boolean {
  return ((bits[value >> 5]! >>> (value & 31)) & 1) === 1;
}

/** The lowest member of one word that is at least `from` (0 to 32), or -1. */
export function nextBitOfWord(word: number, from: number): number {
  const rest = from > 31 ? 0 : word & (-1 << from);
  return rest === 0 ? -1 : 31 - Math.clz32(rest & -rest);
}

/** The highest member of one word that is at most `from` (-1 to 31), or -1. */
export function previousBitOfWord(word: number, from: number): number {
  const rest = from < 0 ? 0 : word & (-1 >>> (31 - from));
  return 31 - Math.clz32(rest);
}

/** The lowest member that is at least `from`, or -1. */
export function nextBit(bits: Bits, from: number): number {
  let index = from >> 5;
  if (index >= bits.length) return -1;
  let found = nextBitOfWord(bits[index]!, from & 31);
  while (found < 0) {
    if (++index >= bits.length) return -1;
    found = nextBitOfWord(bits[index]!, 0);
  }
  return index * 32 + found;
}

/** The highest member that is at most `from` (-1: none), or -1. */
export function previousBit(bits: Bits, from: number): number {
  if (from < 0) return -1;
  let index = from >> 5;
  let found = previousBitOfWord(bits[index]!, from & 31);
  while (found < 0) {
    if (--index < 0) return -1;
    found = previousBitOfWord(bits[index]!, 31);
  }
  return index * 32 + found;
}
