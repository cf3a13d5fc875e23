import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

/** Threat, answer and what holds it, of each row. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (threat|-+) /.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('each threat has an answer', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter(([, threat, answer]) => !threat || !answer)).toEqual([]);
});

test.each(rows.map(([, threat, , holders]) => [threat!, holders!]))(
  '%s: what holds the answer is there',
  (_, holders) => {
    let file = '';
    const parts = [...holders.matchAll(/`([^`]+)`|"([^"]+)"/g)];
    expect(parts.length).toBeGreaterThan(0);
    for (const [, path, title] of parts) {
      if (path !== undefined) {
        file = path;
        expect({ file, isThere: existsSync(join(ROOT, file)) }).toEqual({ file, isThere: true });
      } else {
        expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title);
      }
    }
  },
);
