import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { openDatabase, type Database } from '../../src/adapters/local/database';
import { findDamage } from '../../src/adapters/local/store-check';
import { functionArn } from '../support/builders';
import { freshFolder, removeFolder } from '../support/data-folder';
import { LocalProcess, Refusal } from '../support/local-process';

const HANDLERS = join(__dirname, 'handlers');
const PAGE_BYTES = 4096;

let folder: string;
const data = () => join(folder, 'data');
const store = () => join(data(), 'store.mdb');
beforeEach(() => {
  folder = freshFolder();
});
afterEach(() => removeFolder(folder));

const start = () => LocalProcess.start(['--data', data(), '--handlers', HANDLERS, '--json']);

async function refusal(): Promise<Refusal> {
  const outcome = await start().catch((error: unknown) => error);
  if (outcome instanceof LocalProcess) await outcome.end('SIGKILL');
  expect(outcome).toBeInstanceOf(Refusal);
  return outcome as Refusal;
}

describe('a store that was damaged while nobody had it open', () => {
  let good: string;
  beforeAll(async () => {
    good = freshFolder();
    const system = await LocalProcess.start(['--data', good, '--handlers', HANDLERS, '--json']);
    const job = { target: { functionArn: functionArn('witness') }, delaySeconds: 100_000, payload: 'x'.repeat(2_000) };
    const jobs = Array.from({ length: 100 }, (_, index) => ({ ...job, jobId: `job-${index}` }));
    expect((await system.request('POST', '/jobs/bulk', { jobs })).body).toMatchObject({ created: 100 });
    await system.end('SIGTERM');
  });
  afterAll(() => removeFolder(good));

  const damages: Record<string, (whole: Buffer) => Buffer> = {
    'cut to half': (whole) => whole.subarray(0, whole.length / 2),
    'cut to nothing': () => Buffer.alloc(0),
    'overwritten with zeros from the middle on': (whole) => Buffer.from(whole).fill(0, whole.length / 2),
    'begun with something else': (whole) => Buffer.from(whole).fill('garbage', 0, 2 * PAGE_BYTES),
    'replaced by a text': () => Buffer.from('not a store\n'.repeat(5_000)),
  };

  test.each(Object.keys(damages))(
    'is refused in one line that says what to do, and left as it is: %s',
    async (name) => {
      mkdirSync(data());
      const damaged = damages[name]!(readFileSync(join(good, 'store.mdb')));
      writeFileSync(store(), damaged);
      const { code, errors } = await refusal();
      expect(code).toBe(1);
      expect(errors).toMatch(
        /^The store \S*store\.mdb is damaged: .* Put a copy of it from before in its place.*--data DIR.*\n$/,
      );
      expect(readFileSync(store()).equals(damaged)).toBe(true);
    },
  );

  /** Everything in it, as one text. */
  function contentOf(path: string): string {
    const root = open<string, string>({ path, encoding: 'string', maxDbs: 64, readOnly: true });
    const tables = [...root.getKeys()].filter((key) => key !== 'format');
    const content = tables.map((name) => [
      name,
      [...root.openDB<string, string>(String(name), { encoding: 'string' }).getRange()],
    ]);
    void root.close();
    return JSON.stringify(content);
  }

  test('whichever page is zeroed, overwritten or cut off: that is noticed, or the page held nothing', () => {
    mkdirSync(data());
    const whole = readFileSync(join(good, 'store.mdb'));
    const content = contentOf(join(good, 'store.mdb'));
    expect(content.length).toBeGreaterThan(200_000);
    let noticed = 0;
    const look = (damaged: Buffer, number: number) => {
      const path = join(data(), `${number}.mdb`);
      writeFileSync(path, damaged);
      if (findDamage(path) !== undefined) noticed += 1;
      else expect([number, contentOf(path) === content]).toEqual([number, true]);
      rmSync(path);
      rmSync(`${path}-lock`, { force: true });
    };
    const pages = whole.length / PAGE_BYTES;
    for (let page = 0; page < pages; page += 1) {
      const [from, to] = [page * PAGE_BYTES, (page + 1) * PAGE_BYTES];
      look(Buffer.from(whole).fill(0, from, to), 3 * page);
      look(Buffer.from(whole).fill(0xa7, from, to), 3 * page + 1);
      look(whole.subarray(0, from + 100), 3 * page + 2);
    }
    expect(noticed).toBeGreaterThan(pages);
  });

  test('is whole again with a copy in its place', async () => {
    mkdirSync(data());
    writeFileSync(store(), '');
    await refusal();
    copyFileSync(join(good, 'store.mdb'), store());
    const system = await start();
    const { body } = await system.request('GET', '/jobs?limit=100');
    expect((body as { items: unknown[] }).items).toHaveLength(100);
    await system.end('SIGTERM');
  });
});

test.each(['0', '2'])(
  'a store of the format %s, from before or after this version, is refused and left as it is',
  async (format) => {
    await (await openDatabase(data())).close();
    const root = open<string, string>({ path: store(), encoding: 'string' });
    await root.put('format', format);
    await root.close();
    const before = readFileSync(store());
    const { code, errors } = await refusal();
    expect(code).toBe(1);
    expect(errors).toMatch(
      new RegExp(`^The store in \\S* has format ${format}, and this version reads .*--data DIR.*\\n$`),
    );
    expect(readFileSync(store()).equals(before)).toBe(true);
  },
);

test('a store that was only begun when its process was killed is made anew', async () => {
  mkdirSync(data());
  writeFileSync(join(data(), 'store-new.mdb'), Buffer.alloc(100));
  let database: Database | undefined = await openDatabase(data());
  const table = database.table('t');
  await database.change(() => table.putSync('a', '1'));
  await database.close();
  database = await openDatabase(data());
  expect(database.table('t').get('a')).toBe('1');
  await database.close();
});
