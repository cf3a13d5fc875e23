import fc from 'fast-check';
import { createApp } from '../../src/http/app';
import { functionArn } from '../support/builders';
import { openDynamoStores } from '../support/dynamo-stores';
import { runs } from '../support/property-runs';
import { World, type WorldOptions } from '../support/world';
import { check } from './check';
import { kept } from './corpus';
import { Inputs } from './inputs';
import { textOf, treeOf } from './json-tree';
import { mutated, oddText } from './odd-json';

const inputs = new Inputs();
const LONG_MS = 1_800_000;
const LISTS = ['/jobs', '/jobs/a/runs', '/jobs/b/runs', '/failed', '/chains', '/batches'];

/** As the corpus keeps it: JSON text, in which `@@` stands for a text that is repeated, and a `1` behind it for its end. */
interface Forged {
  list: string;
  decoded: string;
  filling?: [text: string, times: number];
  ending?: [text: string, times: number];
}

interface Page {
  cursor?: string;
  errors?: { field: string; message: string }[];
}

const stores: [string, Pick<WorldOptions, 'openStores'>][] = [
  ['the local stores', {}],
  ['DynamoDB', { openStores: openDynamoStores }],
];

describe.each(stores)('of %s', (name, options) => {
  let world: World;
  let app: ReturnType<typeof createApp>;
  /** what each list gave out */
  const given: string[] = [];

  const get = async (path: string) => {
    const answer = await app.request(path);
    return { status: answer.status, page: (await answer.json()) as Page };
  };
  const post = (path: string, body: object) =>
    app.request(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });

  beforeAll(async () => {
    const fails = () => {
      throw Object.assign(new Error('for good'), { name: 'NonRetriableError' });
    };
    world = await World.open({ ...options, code: { 'job-failing': fails } });
    app = createApp({ ports: world.ports, isLocal: true });
    const target = { functionArn: functionArn('job-failing') };
    const engine = world.start();
    for (const jobId of ['a', 'b']) {
      await post('/jobs', { jobId, target });
      await post(`/jobs/${jobId}/trigger`, {});
    }
    for (const path of ['/chains', '/batches']) for (let i = 0; i < 3; i++) await post(path, { jobs: [{ target }] });
    await world.clock.advance(60_000);
    await world.stop(engine);
    for (const list of LISTS) given.push((await get(`${list}?limit=1`)).page.cursor ?? '');
  }, LONG_MS);
  afterAll(() => world.close());

  test('each list gives out a cursor, and takes it back', async () => {
    for (const [i, cursor] of given.entries()) {
      expect(cursor).not.toBe('');
      expect((await get(`${LISTS[i]}?cursor=${cursor}`)).status).toBe(200);
    }
  });

  test.each(kept<Forged>('cursor'))('%s, and is refused', async (_, forged) => {
    const { status, page } = await get(`${forged.list}?cursor=${base64(textOfForged(forged))}`);
    expect([status, page.errors]).toMatchObject([400, [{ field: 'cursor' }]]);
  });

  test(
    'whatever stands in its place is refused by name, or is a place in the list',
    async () => {
      const decoded = (cursor: string) => JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
      const forged = fc
        .nat(LISTS.length - 1)
        .chain((of) =>
          fc.tuple(
            fc.constantFrom(of, of, of, (of + 1) % LISTS.length),
            fc.oneof(
              { weight: 4, arbitrary: mutated([treeOf(decoded(given[of]!))]).map((tree) => base64(textOf(tree))) },
              { weight: 2, arbitrary: replacedIn(decoded(given[of]!)).map((value) => base64(JSON.stringify(value))) },
              { weight: 1, arbitrary: oddText },
            ),
          ),
        );
      await check(
        fc.asyncProperty(forged, async ([list, cursor]) => {
          inputs.count(`cursors of ${name}`);
          const path = `${LISTS[list]}?limit=2&cursor=${encodeURIComponent(cursor.toWellFormed())}`;
          const { status, page } = await get(path);
          expect([200, 400]).toContain(status);
          if (status === 400) expect(page.errors).toMatchObject([{ field: 'cursor' }]);
        }),
        runs(name === 'DynamoDB' ? 150 : 300),
      );
      expect(world.notes.filter(({ what }) => what === 'request-failed')).toEqual([]);
    },
    LONG_MS,
  );
});

function textOfForged({ decoded, filling = ['', 0], ending = ['', 0] }: Forged): string {
  return decoded.replace(
    /@@(1?)/,
    (_, one: string) => filling[0].repeat(filling[1]) + one + ending[0].repeat(ending[1]),
  );
}

const base64 = (text: string) => Buffer.from(text).toString('base64url');

/** The same cursor with another text in one of its places. */
function replacedIn(cursor: unknown): fc.Arbitrary<unknown> {
  const texts: string[] = [];
  JSON.stringify(cursor, (_, value: unknown) => (typeof value === 'string' ? (texts.push(value), value) : value));
  const inItsPlace = (old: string, other: string) => (_: string, value: unknown) => (value === old ? other : value);
  return fc
    .tuple(fc.constantFrom(...texts), fc.oneof(oddText, fc.constant('x'.repeat(3_000)), fc.constantFrom(...texts)))
    .map(([old, other]): unknown => JSON.parse(JSON.stringify(cursor), inItsPlace(old, other)));
}
