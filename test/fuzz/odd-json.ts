import fc from 'fast-check';
import { LIMITS } from '../../src/domain/limits';
import { sizeOf, textOf, treeAt, withTreeAt, word, type Tree } from './json-tree';

const AROUND_LIMITS = [...new Set(Object.values(LIMITS))].flatMap((limit) => [limit - 1, limit, limit + 1]);

const oddNumbers = fc.oneof(
  fc.constantFrom(
    ...['-1', '-0', '0', '0.0', '0.5', '1e0', '1E+2', '1e-7', '5e-324', '1e21', '1e308', '1e400', '-1e400'],
    ...['9007199254740993', '-9007199254740993', '123456789012345678901234567890', '8640000000000001', '2147483648'],
    ...['0.1000000000000000055511151231257827', '1.7976931348623157e308', '1809432000000', '253402300800000'],
  ),
  fc.constantFrom(...AROUND_LIMITS).map(String),
  fc.constantFrom(...AROUND_LIMITS).map((limit) => String(-limit)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);

const ODD_TEXTS = [
  ...['', ' ', '*', '.', '..', '../..', 'a/b', '%00', '\0', '\u0007', '\r\n', '\u007f', '\u0085', '\u2028', '\ufeff'],
  ...[
    '\ud800',
    'a\udfff',
    '\udc00\ud800',
    '\ufffe',
    '\uffff',
    '\ufffd',
    '😀',
    '👩‍👩‍👧‍👦',
    'é',
    'e\u0301',
    'ſ',
    'İ',
    'ß',
    '\u202eabc',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', 'true', '0', '-1', '1e400'],
  ...['PST', 'utc', 'Etc/GMT+12', 'europe/london', 'Europe/Kyiv', 'Pacific/Apia', '+01:00', 'UTC+1', 'Europe/Zurich\0'],
  ...[
    '2027-06-01T09:00:00Z',
    '2027-06-01T09:00:00',
    '2199-12-31T23:59:59.999Z',
    '2200-01-01T00:00:00Z',
    '1970-01-01T00:00Z',
  ],
  ...['+275760-09-13T00:00:00.000Z', '9999-12-31T23:59:59Z', '1969-12-31T23:59:59+23:59', '2027-02-30T00:00:00Z'],
  ...['rate(1 second)', 'rate(0 days)', 'rate(99999999999 days)', 'rate(1 seconds)', 'at(2027-05-04T12:00:01)'],
  ...['at(1970-01-01T00:00:00)', 'at(2199-12-31T23:59:59)', 'at(2200-01-01T00:00:00)', '* * * * * *', '0 0 29 2 *'],
  ...['cron(0 0 31 2 ? *)', 'cron(* * * * ? 2199)', 'cron(0 0 L * ? *)', 'cron(0 0 ? * 2#5 *)', '@hourly', '@reboot'],
  ...['arn:aws:lambda:eu-west-1:111122223333:function:job-report:PROD', 'arn:aws:lambda:::function:', 'job-report'],
] as const;

export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc
    .tuple(fc.constantFrom('a', 'é', '😀', '\ud800'), fc.constantFrom(63, 64, 65, 128, 129, 256, 257, 2_048, 8_193))
    .map(([character, times]) => character.repeat(times)),
);

/** As JSON text; characters outside of ASCII stand as they are or escaped. */
const oddString = fc
  .tuple(oddText, fc.boolean())
  .map(([text, isEscaped]) => (isEscaped ? escaped(text) : JSON.stringify(text)));

function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

const nested = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.constantFrom(2, 100, 498, 499, 500, 501, 5_000))
  .map(([open, depth]) => open.repeat(depth) + '1' + (open === '[' ? ']' : '}').repeat(depth));

/** The text of a value that its reader may not expect. */
export const oddValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: oddNumbers },
  { weight: 4, arbitrary: oddString },
  { weight: 2, arbitrary: fc.constantFrom('null', 'true', 'false', '[]', '{}', '[null]', '[[]]', '{"":""}', ' 1 ') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{"__proto__":1}', '{"constructor":{"prototype":{"x":1}}}', '{"a":1,"a":2}'),
  },
  { weight: 1, arbitrary: nested },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
);

const oddName = fc.oneof(
  fc.constantFrom(
    '"__proto__"',
    '"constructor"',
    '"toString"',
    '""',
    '"payload"',
    '"\\u0070ayload"',
    '"jobId"',
    '"target"',
  ),
  oddString,
);

type Change = (tree: Tree) => Tree;

const at = (tree: Tree, place: number) => place % sizeOf(tree);
const place = fc.nat(999);

/** Changes one place of a JSON text. */
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(place, oddValue).map(
      ([i, text]): Change =>
        (tree) =>
          withTreeAt(tree, at(tree, i), () => word(text)),
    ),
  },
  {
    weight: 2,
    arbitrary: place.map(
      (i): Change =>
        (tree) =>
          withTreeAt(tree, at(tree, i), () => undefined),
    ),
  },
  {
    // Something that stands elsewhere in it.
    weight: 2,
    arbitrary: fc.tuple(place, place).map(
      ([i, j]): Change =>
        (tree) =>
          withTreeAt(tree, at(tree, i), () => treeAt(tree, at(tree, j))),
    ),
  },
  {
    weight: 2,
    arbitrary: place.map(
      (i): Change =>
        (tree) =>
          withTreeAt(tree, at(tree, i), (part) => ({ kind: 'list', items: [part] })),
    ),
  },
  {
    // One member more, most likely of a name that is unknown or there already.
    weight: 3,
    arbitrary: fc.tuple(place, oddName, oddValue, fc.boolean()).map(
      ([i, name, text, isFirst]): Change =>
        (tree) =>
          withTreeAt(tree, at(tree, i), (part) => {
            if (part.kind !== 'object') return word(text);
            const member = [name, word(text)] as const;
            return { kind: 'object', members: isFirst ? [member, ...part.members] : [...part.members, member] };
          }),
    ),
  },
);

/** What is a caller's own may be anything. */
const payloadChange: fc.Arbitrary<Change> = fc.tuple(fc.constantFrom('payload', 'result'), oddValue).map(
  ([name, text]): Change =>
    (tree) =>
      withMember(tree, name, text),
);

function withMember(tree: Tree, name: string, text: string): Tree {
  if (tree.kind === 'list') return { kind: 'list', items: tree.items.map((item) => withMember(item, name, text)) };
  if (tree.kind === 'word') return tree;
  return {
    kind: 'object',
    members: tree.members.map(([of, value]) => [of, of === `"${name}"` ? word(text) : withMember(value, name, text)]),
  };
}

/** One of these, with some places changed. */
export function mutated(valid: readonly Tree[]): fc.Arbitrary<Tree> {
  return fc
    .tuple(
      fc.constantFrom(...valid),
      fc.array(fc.oneof({ weight: 2, arbitrary: change }, { weight: 1, arbitrary: payloadChange }), { maxLength: 2 }),
    )
    .map(([tree, changes]) => changes.reduce((whole, next) => next(whole), tree));
}

export interface Written {
  bytes: Uint8Array<ArrayBuffer>;
  /** the tree that the bytes are the text of; absent where something was done to them */
  tree?: Tree;
}

const ODD_BYTES = [
  [0],
  [0xff],
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xef, 0xbb, 0xbf],
  [0xf4, 0x90, 0x80, 0x80],
  [0x22],
  [0x5c],
];

/** Mostly as it is, else cut off or with bytes that do not belong there. */
export function written(trees: fc.Arbitrary<Tree>): fc.Arbitrary<Written> {
  const harm = fc.oneof(
    { weight: 12, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({ at: fc.nat(2_000), cut: fc.constant(true), bytes: fc.constant<number[]>([]) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ at: fc.nat(2_000), cut: fc.constant(false), bytes: fc.constantFrom(...ODD_BYTES) }),
    },
  );
  return fc.tuple(trees, harm).map(([tree, what]) => {
    const bytes = Buffer.from(textOf(tree));
    if (!what) return { bytes: Uint8Array.from(bytes), tree };
    const from = what.at % (bytes.length + 1);
    const rest = what.cut ? [] : bytes.subarray(from);
    return { bytes: Uint8Array.from([...bytes.subarray(0, from), ...what.bytes, ...rest]) };
  });
}
