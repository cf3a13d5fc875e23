import fc from 'fast-check';
import { runs } from '../support/property-runs';
import { check } from './check';
import { survives } from './http-rules';
import { Inputs } from './inputs';
import { LARGE_BODIES, oddRequest } from './requests';
import { StandingWorld } from './standing-world';

const inputs = new Inputs();
const MOST_AT_ONCE = 200;

test('whatever is asked is answered, what was answered can be read again, and the system goes on', async () => {
  const sequences = fc.array(oddRequest, { minLength: 1, maxLength: MOST_AT_ONCE, size: 'max' });
  const property = fc.asyncProperty(sequences, async (requests) => {
    inputs.count('http', requests.length);
    await survives(requests);
  });
  await check(property, runs(35));
}, 1_800_000);

test('bodies of the largest size are answered', async () => {
  const world = await StandingWorld.open();
  for (const [method, path, body] of LARGE_BODIES) {
    inputs.count('large bodies');
    const { status, json } = await world.client.send(path, { method, body });
    expect({ status, errors: json.errors }).toMatchObject({ status: expect.any(Number) as number });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  }
  expect(world.faults()).toEqual([]);
  await world.close();
});
