import { Client, type Answer } from '../http/client';
import { functionArn } from '../support/builders';
import { awaited, recurring, type OddRequest } from './requests';

/** Ids that stand in a path as `:jobId`, and the token in a body as `:token`. */
type Names = Record<string, string>;

/** Faults of ours: with well-behaved stores and queues none of these is ever noted. */
const FAULTS = new Set([
  'request-failed',
  'tick-failed',
  'sweep-failed',
  'job-not-dispatched',
  'queue-not-read',
  'dead-letters-not-sent-again',
  'lease-not-renewed',
  'hold-not-released',
  'unique-key-not-freed',
]);
/** Left for another delivery: what cannot be read, and what a subscriber did not take. */
const RIGHTLY_LEFT = new Set(['UnreadableMessageError', 'SubscriberFailedError']);

/** A system in which one of everything stands, so that a request has something to meet. The same ids in each. */
export class StandingWorld {
  readonly client: Client;
  readonly names: Names;

  private constructor(client: Client, names: Names) {
    this.client = client;
    this.names = names;
  }

  static async open(): Promise<StandingWorld> {
    const client = await Client.open();
    const names: Names = { reply: 'job-created' };
    client.world.code['job-report'] = ({ event }) => {
      if (typeof event['token'] === 'string') names['token'] ??= event['token'];
      return { echo: event['payload'] };
    };
    client.world.code['job-failing'] = () => {
      throw Object.assign(new Error('for good'), { name: 'NonRetriableError' });
    };
    client.world.code['notify-me'] = () => 'heard';
    const made = async (path: string, body: object) => (await client.post(path, JSON.stringify(body))).json;
    await made('/jobs', { ...recurring, jobId: 'standing' });
    await made('/jobs', { jobId: 'hourly', target: recurring.target, schedule: 'rate(1 hour)' });
    await made('/jobs', { ...awaited, jobId: 'awaited' });
    await made('/jobs', { jobId: 'failed', target: { functionArn: functionArn('job-failing') } });
    const subscription = { state: 'DONE', target: { functionArn: functionArn('notify-me') } };
    names['notifyId'] = (await made('/jobs/standing/notifications', subscription)).notifyId;
    names['chainId'] = String((await made('/chains', { jobs: [{ target: recurring.target }] }))['chainId']);
    names['batchId'] = String(
      (await made('/batches', { jobs: [{ target: recurring.target, delaySeconds: 600 }] }))['batchId'],
    );
    await client.run();
    for (const jobId of ['awaited', 'failed', 'standing']) {
      await client.post(`/jobs/${jobId}/trigger`, '');
      await client.run();
      const { items } = (await client.send(`/jobs/${jobId}/runs`)).json;
      names[jobId === 'standing' ? 'runId' : `${jobId}RunId`] = items.at(-1)!.runId;
    }
    names['jobId'] = 'standing';
    names['jobsCursor'] = (await client.send('/jobs?limit=1')).json.cursor!;
    await client.post('/jobs/failed/trigger', '');
    await client.run();
    names['runsCursor'] = (await client.send('/jobs/failed/runs?limit=1')).json.cursor!;
    return new StandingWorld(client, names);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  async send({ method, path, query, headers, body }: OddRequest): Promise<Answer> {
    const bytes = body && this.#filledInBytes(body.bytes);
    const target = this.#filledIn(path) + (query === '' ? '' : `?${this.#filledIn(query)}`);
    const isBodiless = method === 'GET' || method === 'HEAD' || method === 'get';
    return this.client.send(target, { method, headers, ...(bytes && !isBodiless ? { body: bytes } : {}) });
  }

  #filledIn(text: string): string {
    return text
      .replace(/:([A-Za-z]+)/g, (whole, name: string) => this.names[name] ?? whole)
      .replace(/^(.*)@(\d+)(.+)$/, (_, cursor: string, at: string, letter: string) => {
        const place = Number(at) % cursor.length;
        return cursor.slice(0, place) + letter + cursor.slice(place + 1);
      });
  }

  #filledInBytes(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const text = Buffer.from(bytes).toString('latin1');
    if (!text.includes(':token')) return bytes;
    return Uint8Array.from(Buffer.from(text.replace(':token', this.names['token'] ?? ''), 'latin1'));
  }

  /**
   * For what waits for nothing but the database: when that is at rest, and everything that follows has followed, it is over, or it
   * never will be.
   */
  async atOnce<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const end = () => (isOver = true);
    work.then(end, end);
    // A stream hands its parts over in turns of their own; more of them than this stand still.
    for (let quiet = 0; quiet < 20 && !isOver; quiet++) await this.client.world.clock.settle();
    if (!isOver) throw new Error('hangs: nothing is at work, and there is no answer');
    return work;
  }

  /** Lets the whole system work for some time. */
  async run(ms: number): Promise<void> {
    const { world } = this.client;
    const engine = world.start(this.client.ports);
    await world.clock.advance(ms);
    await world.stop(engine);
  }

  /** Everything that is listed, page by page, and each of it by itself. */
  async readAll(): Promise<{ path: string; answer: Answer }[]> {
    const read: { path: string; answer: Answer }[] = [];
    const get = async (path: string) => {
      const answer = await this.client.send(path);
      read.push({ path, answer });
      return answer.json;
    };
    const list = async (path: string) => {
      const items = [];
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const page = await get(`${path}?limit=7${cursor && `&cursor=${cursor}`}`);
        items.push(...(page.items ?? []));
        cursor = page.cursor;
      }
      return items;
    };
    for (const { jobId } of await list('/jobs')) {
      await get(`/jobs/${jobId}`);
      const runs = await list(`/jobs/${jobId}/runs`);
      for (const { runId } of runs.slice(0, 1)) await get(`/jobs/${jobId}/runs/${runId}`);
    }
    await get('/jobs/*/notifications');
    for (const { jobId, runId } of await list('/failed')) await get(`/failed/${jobId}/${runId}`);
    for (const chain of await list('/chains')) await get(`/chains/${String(chain['chainId'])}`);
    for (const batch of await list('/batches')) {
      await get(`/batches/${String(batch['batchId'])}`);
      await list(`/batches/${String(batch['batchId'])}/jobs`);
    }
    return read;
  }

  /** What was noted of faults that are nobody's but ours. */
  faults(): object[] {
    return this.client.world.notes.filter(
      ({ what, details }) =>
        FAULTS.has(what) || (/-left$/.test(what) && !RIGHTLY_LEFT.has((details as { error: string }).error)),
    );
  }
}
