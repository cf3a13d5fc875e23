import fc from 'fast-check';
import { depthOf, hasLoneSurrogate, RawJson, rawAt, rawItems, stringify } from '../../src/messages/raw-json';

describe('the source text of a value', () => {
  test.each([
    ['{"payload":9007199254740993}', ['payload'], '9007199254740993'],
    ['{"payload": -0.0 }', ['payload'], '-0.0'],
    [' { "a" : 1 , "payload" : { "x" : 1.23e+40 } } ', ['payload'], '{ "x" : 1.23e+40 }'],
    ['{"pay\\u006coad":"\\u00e9"}', ['payload'], '"\\u00e9"'],
    ['{"payload":1,"payload":2}', ['payload'], '2'],
    ['{"job":{"payload":1},"job":{"payload":[2]}}', ['job', 'payload'], '[2]'],
    ['{"jobs":[{"payload":0},"],}",[[]],{"payload":"}"}]}', ['jobs', 3, 'payload'], '"}"'],
    ['{"a":"\\"payload\\":1","payload":"\\\\"}', ['payload'], '"\\\\"'],
    ['[10,20,30]', [2], '30'],
    ['{"":{"":null}}', ['', ''], 'null'],
    ['{"payload":[]}', [], '{"payload":[]}'],
  ])('of %s at %j is %s', (text, path, raw) => {
    expect(rawAt(text, path)).toBe(raw);
  });

  test.each([
    ['{}', ['payload']],
    ['{"job":{}}', ['job', 'payload']],
    ['[1]', [1]],
    ['[]', [0]],
    ['{"a":1}', [0]],
    ['[1]', ['a']],
    ['"a"', ['a']],
  ])('is absent from %s at %j', (text, path) => {
    expect(rawAt(text, path)).toBeUndefined();
  });

  test('is what JSON.parse makes of it, wherever it stands', () => {
    const spaces = fc.constantFrom(0, 2, '\t');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.json()), fc.json(), spaces, (others, payload, indent) => {
        const parsed = Object.fromEntries(Object.entries(others).map(([name, text]) => [name, JSON.parse(text)]));
        const whole = { ...parsed, payload: JSON.parse(payload) as unknown, list: [1, parsed, [parsed]] };
        const text = JSON.stringify(whole, null, indent);
        expect(JSON.parse(rawAt(text, ['payload'])!)).toEqual(whole.payload);
        expect(JSON.parse(rawAt(text, ['list', 2, 0])!)).toEqual(JSON.parse(JSON.stringify(parsed)));
      }),
    );
  });

  test('is found past and in a hundred thousand levels', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const text = `{"a":${deep},"payload":${deep}}`;
    expect(rawAt(text, ['payload'])).toBe(deep);
    expect(depthOf(text)).toBe(100_001);
  });
});

describe('the source texts of the items of a list', () => {
  test.each([
    ['[]', []],
    [' [ \n ] ', []],
    ['[1]', ['1']],
    [' [ 1.0 , "a,]\\"" ,[2,[3]], {"b":"}"} ,null] ', ['1.0', '"a,]\\""', '[2,[3]]', '{"b":"}"}', 'null']],
    ['[9007199254740993,-0.0]', ['9007199254740993', '-0.0']],
  ])('of %j', (text, items) => {
    expect(rawItems(text)).toEqual(items);
  });

  test.each(['{}', '1', '"[1]"', 'null'])('are none of %j, which is no list', (text) => {
    expect(rawItems(text)).toBeUndefined();
  });

  test('are what JSON.parse makes of them, one by one', () => {
    const spaces = fc.constantFrom(0, 2, '\t');
    fc.assert(
      fc.property(fc.array(fc.json()), spaces, (items, indent) => {
        const values = items.map((item) => JSON.parse(item) as unknown);
        const texts = rawItems(JSON.stringify(values, null, indent))!;
        expect(texts.map((text) => JSON.parse(text) as unknown)).toEqual(values);
        expect(texts).toEqual(values.map((_, i) => rawAt(JSON.stringify(values, null, indent), [i])));
      }),
    );
  });
});

test('brackets inside strings are no depth', () => {
  expect(depthOf('{"a":"[[[{","b\\"[":[{}]}')).toBe(3);
  expect(depthOf('1')).toBe(0);
});

test('raw parts go out as they are, and what is undefined does not', () => {
  const value = { a: 1, raw: new RawJson('-0.0'), list: ['é"', new RawJson('1e400'), null], none: undefined };
  expect(stringify(value)).toBe('{"a":1,"raw":-0.0,"list":["é\\"",1e400,null]}');
});

test.each([
  ['"\\ud83d"', true],
  ['"\\ud83dx\\ude00"', true],
  ['"\\ude00\\ud83d"', true],
  ['"\\ud83d\\ud83d\\ude00"', true],
  ['"\\ud83d\\u0041"', true],
  ['{"a\\uDE00":1}', true],
  ['["\\ud83d","\\ude00"]', true],
  ['"\ud83d"', true],
  ['"\\ud83d\\ude00"', false],
  ['"📦\\uD83D\\uDE00\\n"', false],
  ['"\\\\ud83d"', false],
  ['"\\u0000\uffff"', false],
])('in %s half a character is told from a whole one: %s', (text, isLone) => {
  expect(hasLoneSurrogate(text)).toBe(isLone);
});
