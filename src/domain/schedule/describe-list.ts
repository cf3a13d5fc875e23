/** `a`, `a and b`, `a, b and c` */
export function listOf(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words[0] ?? '';
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** `1st`, `2nd`, `11th` */
export function ordinal(value: number): string {
  const isTeen = Math.floor(value / 10) % 10 === 1;
  return `${value}${(isTeen ? undefined : ['th', 'st', 'nd', 'rd'][value % 10]) ?? 'th'}`;
}

/** `5`, `1 to 5`, `every 2nd day from 1 to 31`; `nameOf` puts names in the place of numbers. */
export function spanOf(
  range: { from: number; to: number; step: number },
  unit: string,
  nameOf: (value: number) => string = String,
): string {
  const { from, to, step } = range;
  if (from === to) return nameOf(from);
  if (step === 1) return `${nameOf(from)} to ${nameOf(to)}`;
  return `every ${ordinal(step)} ${unit} from ${nameOf(from)} to ${nameOf(to)}`;
}
