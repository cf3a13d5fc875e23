import { createApp } from '../../src/http/app';
import { runActivations } from '../../src/operations/run-activation';
import type { Ports } from '../../src/ports';
import { World } from '../support/world';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** what the text says, if it says anything */
  json: Json;
}

/** Whatever the API answers, typed as far as the tests look into it. */
export interface Json {
  [member: string]: unknown;
  jobId: string;
  runId: string;
  notifyId: string;
  nominalAt: string;
  cursor?: string;
  items: Json[];
  detail: string;
  errors: { field: string; message: string }[];
}

export interface Request {
  method?: string;
  headers?: Record<string, string>;
  /** JSON text, or bytes as they are */
  body?: string | Uint8Array<ArrayBuffer>;
}

/** The app on a world whose loop and consumers stand still: what happens is what a request does. */
export class Client {
  readonly ports: Ports;
  readonly #world: World;
  readonly #app: ReturnType<typeof createApp>;

  private constructor(world: World) {
    this.#world = world;
    this.ports = {
      ...world.ports,
      settings: { ...world.ports.settings, allowedFunctions: ['job-*', 'notify-*'] },
    };
    this.#app = createApp({ ports: this.ports, isLocal: true });
  }

  static async open(): Promise<Client> {
    return new Client(await World.open());
  }

  get world(): World {
    return this.#world;
  }

  close(): Promise<void> {
    return this.#world.close();
  }

  /** Runs what is on the activation queues now, and what follows from that at once. */
  async run(): Promise<void> {
    for (const queue of [this.ports.highActivations, this.ports.activations]) {
      for (;;) {
        const messages = await queue.receive(10);
        if (messages.length === 0) break;
        await this.#world.untilOver(runActivations(messages, this.ports, queue));
        await queue.remove(messages.map(({ receipt }) => receipt));
      }
    }
  }

  async send(path: string, { method = 'GET', headers = {}, body }: Request = {}): Promise<Answer> {
    const media: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
    const answer = await this.#app.request(path, {
      method,
      headers: { ...media, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    const json = JSON.parse(text === '' ? '{}' : text) as Json;
    return { status: answer.status, headers: answer.headers, text, json };
  }

  post(path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, { method: 'POST', body, headers });
  }

  patch(path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, { method: 'PATCH', body, headers });
  }

  delete(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(path, { method: 'DELETE', headers });
  }
}
