import fc from 'fast-check';
import { describeJsonFault } from '../../src/messages/json-fault';

test.each([
  ['{"a":}', 'line 1, column 6 has "}" where a value must stand'],
  ['{a:1}', 'line 1, column 2 has "a" where a name in double quotes or } must stand'],
  ['{"a":1', 'line 1, column 7 has the end where , or } must stand'],
  ['{"a" 1}', 'line 1, column 6 has "1" where a colon must stand'],
  ['{\n  "a": 1,\n}', 'line 3, column 1 has "}" where a name in double quotes must stand'],
  ['[1 2]', 'line 1, column 4 has "2" where , or ] must stand'],
  ['[1,]', 'line 1, column 4 has "]" where a value must stand'],
  ['{"a":1} x', 'line 1, column 9 has "x" where nothing more must stand'],
  ["{'a':1}", `line 1, column 2 has "'" where a name in double quotes or } must stand`],
  ['"a\nb"', 'line 1, column 1 has "\\"" where a value must stand'],
  ['', 'line 1, column 1 has the end where a value must stand'],
  ['[[[', 'line 1, column 4 has the end where a value or ] must stand'],
  ['[📦]', 'line 1, column 2 has "📦" where a value or ] must stand'],
])('%s is not JSON: %s', (text, says) => {
  expect(describeJsonFault(text)).toBe(`is not JSON: ${says}`);
});

test('a fault is found wherever a text is cut off, and none before the cut', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), fc.nat(), (text, n) => {
      const cut = text.slice(0, n % text.length);
      const isWhole = (() => {
        try {
          JSON.parse(cut);
          return true;
        } catch {
          return false;
        }
      })();
      fc.pre(!isWhole);
      expect(describeJsonFault(cut)).toMatch(/^is not JSON: line 1, column \d+ has /);
    }),
  );
});

test('a long text and a deep one are looked through', () => {
  expect(describeJsonFault(`{"a":"${'\\n'.repeat(500_000)}"`)).toContain('has the end where , or } must stand');
  expect(describeJsonFault('['.repeat(1_000_000))).toContain('column 1000001 has the end');
});
