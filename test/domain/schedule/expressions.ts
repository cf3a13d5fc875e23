import * as fc from 'fast-check';

/** One field as it may be written, with the values that it means; the two are made side by side, not one from the other. */
export interface Field {
  text: string;
  values: ReadonlySet<number>;
}

export function everyField(min: number, max: number): fc.Arbitrary<Field> {
  return fc.constant({ text: '*', values: setOf(min, max, 1) });
}

function setOf(from: number, to: number, step: number): Set<number> {
  const values = new Set<number>();
  for (let value = from; value <= to; value += step) values.add(value);
  return values;
}

function rangeField(min: number, max: number): fc.Arbitrary<Field> {
  return fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }), fc.integer({ min: 1, max: max - min + 1 }), fc.nat(4))
    .map(([a, b, step, form]) => {
      const [from, to] = a <= b ? [a, b] : [b, a];
      switch (form) {
        case 0:
          return { text: `${from}-${to}/${step}`, values: setOf(from, to, step) };
        case 1:
          return { text: `*/${step}`, values: setOf(min, max, step) };
        case 2:
          return { text: `${from}-${to}`, values: setOf(from, to, 1) };
        default:
          return { text: `${a}`, values: new Set([a]) };
      }
    });
}

/** A value, a range, a step or a list of up to three of them. */
export function listField(min: number, max: number): fc.Arbitrary<Field> {
  return fc.array(rangeField(min, max), { minLength: 1, maxLength: 3 }).map((fields) => ({
    text: fields.map((field) => field.text).join(','),
    values: new Set(fields.flatMap((field) => [...field.values])),
  }));
}

export interface Expression {
  /** Unix cron with seconds */
  text: string;
  seconds: Field;
  minutes: Field;
  hours: Field;
  daysOfMonth: Field;
  months: Field;
  daysOfWeek: Field;
}

const nights: fc.Arbitrary<Field> = fc
  .uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 })
  .map((hours) => ({ text: hours.join(','), values: new Set(hours) }));

/** Unix cron with six fields, mostly with few seconds, so that a window of days stays small. */
export const expressions: fc.Arbitrary<Expression> = fc
  .record({
    seconds: fc.oneof(
      { weight: 6, arbitrary: fc.constant({ text: '0', values: new Set([0]) }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 59 }).map((v) => ({ text: `${v}`, values: new Set([v]) })) },
      { weight: 1, arbitrary: fc.constant({ text: '*/29', values: new Set([0, 29, 58]) }) },
    ),
    minutes: fc.oneof(everyField(0, 59), listField(0, 59), listField(0, 59)),
    // Most changes of the clocks are at night.
    hours: fc.oneof(everyField(0, 23), listField(0, 23), nights),
    daysOfMonth: fc.oneof({ weight: 2, arbitrary: everyField(1, 31) }, { weight: 1, arbitrary: listField(1, 31) }),
    months: fc.oneof({ weight: 3, arbitrary: everyField(1, 12) }, { weight: 1, arbitrary: listField(1, 12) }),
    daysOfWeek: fc.oneof({ weight: 2, arbitrary: everyField(0, 6) }, { weight: 1, arbitrary: listField(0, 6) }),
  })
  .map((fields) => {
    const { seconds, minutes, hours, daysOfMonth, months, daysOfWeek } = fields;
    const text = [seconds, minutes, hours, daysOfMonth, months, daysOfWeek].map((field) => field.text).join(' ');
    return { ...fields, text };
  })
  .filter(({ daysOfMonth, daysOfWeek, months }) => {
    const last = Math.min(...daysOfMonth.values);
    const longest = Math.max(
      ...[...months.values].map((month) => (month === 2 ? 29 : [4, 6, 9, 11].includes(month) ? 30 : 31)),
    );
    return last <= longest || daysOfWeek.text !== '*';
  });

/** Does this wall-clock time, held in the UTC fields of a Date, match all fields? By the words of the grammar, slowly. */
export function matches(expression: Expression, wall: Date): boolean {
  const byMonth = expression.daysOfMonth.values.has(wall.getUTCDate());
  const byWeek = expression.daysOfWeek.values.has(wall.getUTCDay());
  const isEither = expression.daysOfMonth.text !== '*' && expression.daysOfWeek.text !== '*';
  return (
    expression.seconds.values.has(wall.getUTCSeconds()) &&
    expression.minutes.values.has(wall.getUTCMinutes()) &&
    expression.hours.values.has(wall.getUTCHours()) &&
    expression.months.values.has(wall.getUTCMonth() + 1) &&
    (isEither ? byMonth || byWeek : byMonth && byWeek)
  );
}
