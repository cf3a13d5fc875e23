import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../../src/domain/limits';
import { Client } from '../http/client';

const page = readFileSync(join(__dirname, '../../docs/queue.md'), 'utf8');

/** The blocks that are requests: a method, a path and a body. */
const requests = [...page.matchAll(/```http\n(\w+) (\S+)\n(.*?)```/gs)].map(
  ([, method, path, body]) => [`${method} ${path}: ${body!.trim().slice(0, 60)}`, method!, path!, body!] as const,
);

test('the page has its requests', () => {
  expect(requests.length).toBeGreaterThan(6);
});

test.each(requests)('%s is accepted', async (_, method, path, body) => {
  const client = await Client.open();
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await client.send(path, { method, body, headers });
  await client.close();
  expect({ status, text }).toMatchObject({ status: path === '/jobs/bulk' ? 200 : 201 });
  if (path === '/jobs/bulk') expect(JSON.parse(text)).toMatchObject({ failed: 0 });
});

test('the page says the limits that there are', () => {
  expect(page).toContain(`1 to ${LIMITS.timeoutSeconds} for each attempt`);
});
