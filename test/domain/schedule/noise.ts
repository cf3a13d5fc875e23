import * as fc from 'fast-check';

/** Bytes of every kind, and bits and pieces of the grammar put together at random. */
export const noise = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        ...'* ? L W # - / , ( ) T : . @ 0 1 5 31 60 2027 MON JAN cron( rate( at( minutes'.split(' '),
        ' ',
        '\t',
      ),
      {
        maxLength: 24,
      },
    )
    .map((pieces) => pieces.join('')),
  fc
    .tuple(
      fc.array(fc.constantFrom('*', '0', '5/15', '1-5', '*/7', '23', '60'), { minLength: 2, maxLength: 3 }),
      fc.constantFrom('*', '?', 'L', 'LW', '15W', 'L-3', '31', '1-5', '30W,1'),
      fc.constantFrom('*', 'FEB', '2-6', '4/2', 'FEB,MAR'),
      fc.constantFrom('*', '?', '1-5', 'MON#2', 'MON#5', '6L', 'L', 'FRI-MON'),
    )
    .chain(([times, day, month, weekday]) => {
      const fields = [...times, day, month, weekday].join(' ');
      return fc.constantFrom(fields, `cron(${fields} *)`, `cron(${fields} 2100)`);
    }),
);
