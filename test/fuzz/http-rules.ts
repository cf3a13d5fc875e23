import { rawAt } from '../../src/messages/raw-json';
import type { Answer } from '../http/client';
import { memberText } from './json-tree';
import type { OddRequest } from './requests';
import { StandingWorld } from './standing-world';

const SOME_TIME_MS = 65_000;
const NAMELESS = new Set([403, 404, 405, 415]);

/** What every answer has to be, whatever was asked. */
export function expectRightAnswer({ method }: OddRequest, { status, headers, text, json }: Answer): void {
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(500);
  if (status < 300) {
    if (status !== 204 && method !== 'HEAD') expect(headers.get('content-type')).toBe('application/json');
    return;
  }
  expect(headers.get('content-type')).toBe('application/problem+json');
  if (method === 'HEAD') return;
  expect(json).toMatchObject({
    type: expect.stringMatching(/^urn:escapement:problem:[a-z-]+$/) as string,
    title: expect.any(String) as string,
    status,
    detail: expect.any(String) as string,
  });
  expect(text.isWellFormed()).toBe(true);
  if (json.errors === undefined) {
    expect([...NAMELESS, 400]).toContain(status);
    return;
  }
  expect(json.errors.length).toBeGreaterThan(0);
  for (const { field, message } of json.errors) {
    expect(field).toMatch(/./su);
    expect(message).toMatch(/./su);
  }
  expect(new Set(json.errors.map(({ field }) => field)).size).toBe(json.errors.length);
}

/** What was created is there, with the payload as it was written. */
export async function expectReadableAgain(
  world: StandingWorld,
  { method, path, body }: OddRequest,
  { status, headers, text, json }: Answer,
): Promise<void> {
  const location = headers.get('location');
  if (status === 201 && !path.includes('notifications')) {
    const again = await world.client.send(location!);
    expect(again.status).toBe(200);
    if (path === '/jobs') expect(rawAt(again.text, ['payload'])).toBe(rawAt(text, ['payload']));
  }
  if (status === 201 && path === '/jobs' && body?.tree) {
    expect(rawAt(text, ['payload'])).toBe(memberText(body.tree, 'payload') ?? 'null');
  }
  if (status === 200 && method === 'PATCH' && body?.tree) {
    const payload = memberText(body.tree, 'payload');
    if (payload !== undefined) expect(rawAt(text, ['payload'])).toBe(payload);
  }
  if (status === 201 && path.endsWith('notifications')) {
    const { items } = (await world.client.send(path.replace(':jobId', 'standing'))).json;
    expect(items.map(({ notifyId }) => notifyId)).toContain(json.notifyId);
  }
  if (status === 200 && path === '/jobs/bulk') {
    for (const { location: at } of json['results'] as { location?: string }[]) {
      if (at !== undefined) expect((await world.client.send(at)).status).toBe(200);
    }
  }
}

/** In a system of its own, so that a counterexample can be run again by itself. */
export async function survives(requests: readonly OddRequest[]): Promise<void> {
  const world = await StandingWorld.open();
  try {
    for (const request of requests) {
      const answer = await world.atOnce(world.send(request));
      expectRightAnswer(request, answer);
      await expectReadableAgain(world, request, answer);
    }
    await expectGoesOn(world);
  } finally {
    await world.close();
  }
}

/** Nothing lies in it that harms it: it works on, whatever is stored can be read, and no fault of ours was noted. */
export async function expectGoesOn(world: StandingWorld): Promise<void> {
  await world.run(SOME_TIME_MS);
  const read = await world.readAll();
  expect(read.filter(({ answer }) => answer.status !== 200).map(({ path }) => path)).toEqual([]);
  expect(world.faults()).toEqual([]);
}
