import { HOUR, NOON } from '../support/builders';
import { Client } from './client';

let client: Client;
beforeEach(async () => {
  client = await Client.open();
  client.world.code['job-report'] = () => 'done';
});
afterEach(() => client.close());
const TARGET = '"target":{"functionArn":"arn:aws:lambda:eu-west-1:111122223333:function:job-report"}';
const key = (text: string) => ({ 'idempotency-key': text });

test('a backfill repeated under its key runs nothing twice, also when the job was edited since', async () => {
  await client.post('/jobs', `{"jobId":"a",${TARGET},"schedule":"rate(1 hour)"}`);
  await client.world.clock.advance(3 * HOUR);
  const range = JSON.stringify({ from: new Date(NOON).toISOString(), to: new Date(NOON + 2 * HOUR).toISOString() });
  const first = await client.post('/jobs/a/backfill', range, key('b'));
  await client.patch('/jobs/a', '{"name":"renamed"}');
  expect((await client.post('/jobs/a/backfill', range, key('b'))).text).toBe(first.text);
});

test('a pause repeated under its key does not pause what was resumed since', async () => {
  await client.post('/jobs', `{"jobId":"a",${TARGET},"schedule":"rate(1 hour)"}`);
  await client.post('/jobs/a/pause', '', key('p'));
  await client.post('/jobs/a/resume', '');
  await client.post('/jobs/a/pause', '', key('p'));
  expect((await client.send('/jobs/a')).json['state']).toBe('ACTIVE');
});
