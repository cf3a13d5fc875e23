import { retryAfterAt } from '../../src/domain/retry-policy';
import { createApp } from '../../src/http/app';
import { cancelRun } from '../../src/operations/cancel-run';
import { createJob } from '../../src/operations/create-job';
import {
  completionOf,
  jobHandler,
  NonRetriableError,
  RetryAfterError,
  RunCancelledError,
  type Fetch,
  type HandlerOptions,
  type JobEvent,
} from '../../src/sdk';
import { HOUR, MINUTE, NOON, SECOND } from '../support/builders';
import { aRequest, World } from '../support/world';

const API = 'http://127.0.0.1:4000';
const event: JobEvent = {
  jobId: 'a',
  runId: 'r',
  attempt: 1,
  nominalAt: '2027-05-04T12:00:00.000Z',
  dueAt: '2027-05-04T12:00:00.000Z',
  token: 'secret',
  payload: null,
};

describe('an error of the SDK', () => {
  test('has the name that the system goes by', () => {
    expect(new NonRetriableError('no use')).toMatchObject({ name: 'NonRetriableError', message: 'no use' });
    expect(new RetryAfterError(1).name).toBe('RetryAfterError');
  });

  test('says when to come again as the system reads it', () => {
    const waits = [0, 1.5, 1 / 3, 1e-7, 30, 315_576_000];
    for (const seconds of waits) {
      for (const message of [undefined, 'the shop is closed', '5']) {
        const at = retryAfterAt(new RetryAfterError(seconds, message).message, NOON);
        expect(at).toBe(NOON + Math.ceil(seconds * 1000));
      }
    }
    const at = new Date(NOON + HOUR + 1);
    expect(retryAfterAt(new RetryAfterError(at, 'later').message, NOON)).toBe(NOON + HOUR + 1);
  });

  test('refuses waits that nobody could read', () => {
    for (const after of [-1, NaN, Infinity, 1e21, new Date(NaN)]) {
      expect(() => new RetryAfterError(after)).toThrow(RangeError);
    }
  });
});

describe('the signal of a handler', () => {
  let world: World;
  afterEach(() => world.close());
  const open = async (work: Parameters<typeof jobHandler>[0], options: HandlerOptions = {}) => {
    const requests: string[] = [];
    const fetch: Fetch = async (url, init) => {
      requests.push(`${init.method} ${url}`);
      return createApp({ ports: world.ports, isLocal: true }).request(url, init);
    };
    const wait = (ms: number, over: AbortSignal) => world.clock.waitUntil(world.clock.now() + ms, over);
    const handler = jobHandler(work, { apiUrl: API, fetch, wait, ...options });
    world = await World.open({ code: { 'job-report': (call) => handler(call.event as unknown as JobEvent) } });
    world.start();
    await createJob('r', aRequest({ jobId: 'a' }), world.ports);
    await world.clock.advance(SECOND);
    return requests;
  };
  const hear = (signal: AbortSignal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

  test('aborts when its run is cancelled, and the run is over when the handler is', async () => {
    let reason: unknown;
    await open(async (_, { signal }) => (reason = await hear(signal)));
    await world.clock.advance(2 * MINUTE);
    const [run] = await world.runsOf('a');
    expect(run).toMatchObject({ state: 'STARTED' });
    await cancelRun('a', run!.runId, {}, world.ports);
    expect(reason).toBeUndefined();
    await world.clock.advance(10 * SECOND);
    expect(reason).toBeInstanceOf(RunCancelledError);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'CANCELLED', attempt: 1 }]);
  });

  test('is asked for no longer than the handler works', async () => {
    const requests = await open(async () => world.clock.waitUntil(world.clock.now() + 35 * SECOND), {
      pollSeconds: 10,
    });
    await world.clock.advance(HOUR);
    const [run] = await world.runsOf('a');
    expect(requests).toEqual(Array(3).fill(`GET ${API}/jobs/a/runs/${run!.runId}`));
    expect(run).toMatchObject({ state: 'DONE' });
  });

  test('outlives an API that is away for a while', async () => {
    let asked = 0;
    const app = () => createApp({ ports: world.ports, isLocal: true });
    const fetch: Fetch = async (url, init) => {
      asked++;
      if (asked === 1) throw new Error('no route');
      if (asked === 2) return new Response('oops', { status: 502 });
      if (asked === 3) return new Response('<html>');
      return app().request(url, init);
    };
    await open(async (_, { signal }) => hear(signal).then(() => 'stopped'), { fetch });
    await cancelRun('a', (await world.runsOf('a'))[0]!.runId, {}, world.ports);
    await world.clock.advance(35 * SECOND);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'STARTED' }]);
    await world.clock.advance(10 * SECOND);
    expect(await world.runsOf('a')).toMatchObject([{ state: 'CANCELLED' }]);
  });
});

describe('the completion of an attempt', () => {
  const answering = (status: number, body: string) => {
    const requests: { url: string; body: unknown }[] = [];
    const fetch: Fetch = async (url, init) => {
      requests.push({ url, body: JSON.parse(init.body ?? 'null') });
      return new Response(body, { status });
    };
    return { requests, options: { apiUrl: `${API}/`, fetch } };
  };

  test('sends its token with the outcome', async () => {
    const { requests, options } = answering(200, '{}');
    const completion = completionOf(event, options);
    await completion.complete({ rows: 3 });
    await completion.complete();
    await completion.fail(new RetryAfterError(30, 'the shop is closed'));
    const error = { type: 'RetryAfterError', message: '30 the shop is closed' };
    const url = `${API}/jobs/a/runs/r`;
    expect(requests).toEqual([
      { url: `${url}/complete`, body: { token: 'secret', result: { rows: 3 } } },
      { url: `${url}/complete`, body: { token: 'secret', result: null } },
      { url: `${url}/fail`, body: { token: 'secret', error } },
    ]);
  });

  test('tells what it was refused for', async () => {
    const { options } = answering(409, '{"detail":"it is over"}');
    await expect(completionOf(event, options).complete()).rejects.toThrow(/409.*it is over/);
  });

  test('says what is missing', async () => {
    const { token: _, ...plain } = event;
    await expect(completionOf(plain, { apiUrl: API }).complete()).rejects.toThrow(/"completion": "callback"/);
    await expect(completionOf(event, { apiUrl: '' }).heartbeat()).rejects.toThrow(/ESCAPEMENT_API_URL/);
  });

  test('hears with a sign of life that the run was cancelled, and so does the signal', async () => {
    const { options } = answering(200, '{"leaseUntil":"2027-05-04T13:00:00.000Z","isCancelRequested":true}');
    const wait = (_: number, over: AbortSignal) =>
      new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
    const handler = jobHandler(
      async (_, { signal, heartbeat }) => {
        const before = signal.aborted;
        return { before, ...(await heartbeat()), after: signal.aborted };
      },
      { ...options, wait },
    );
    expect(await handler(event)).toEqual({ before: false, isCancelRequested: true, after: true });
  });

  test('is the end of asking whether to stop', async () => {
    const { requests, options } = answering(200, '{}');
    let isOver = false;
    const wait = async (_: number, over: AbortSignal) => {
      await new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
      isOver = true;
    };
    const handler = jobHandler(
      async (_, { complete, signal }) => {
        await complete('done');
        return { isOver, isAborted: signal.aborted };
      },
      { ...options, wait },
    );
    expect(await handler(event)).toEqual({ isOver: true, isAborted: false });
    expect(requests).toHaveLength(1);
  });
});

test('without a URL of the API a handler works, and asks nobody', async () => {
  const fetch = jest.fn<ReturnType<Fetch>, Parameters<Fetch>>();
  const wait = jest.fn(async () => undefined);
  const handler = jobHandler<{ rows: number }, number>(({ payload }) => payload.rows, { apiUrl: '', fetch, wait });
  expect(await handler({ ...event, payload: { rows: 3 } })).toBe(3);
  expect(wait).not.toHaveBeenCalled();
  expect(fetch).not.toHaveBeenCalled();
});
