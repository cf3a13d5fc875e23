import { Agent, request } from 'node:http';

export interface Answer {
  status: number;
  /** undefined where there is no body */
  body: never;
}

/** Connections that are kept: few, so that what they hold open is always about the same. */
const CONNECTIONS = 8;

/** The HTTP API from the outside. */
export class Client {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  requests = 0;
  slowestMs = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws Error where the answer has another status than one of these: the soak asks for nothing that may be refused */
  async ask(method: string, path: string, body?: unknown, options: AskOptions = {}): Promise<Answer> {
    const { headers = {}, statuses = [200, 201, 202, 204] } = options;
    const startedAt = performance.now();
    const answer = await this.#send(method, path, body === undefined ? undefined : JSON.stringify(body), headers);
    this.requests += 1;
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
    if (statuses.includes(answer.status)) return answer;
    throw new Error(
      `${method} ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`,
    );
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, text: string | undefined, headers: Record<string, string>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(this.#url + path, {
        method,
        agent: this.#agent,
        headers: {
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      });
      sent.on('error', (cause) => reject(new Error(`${method} ${path} was not answered: ${cause.message}`, { cause })));
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const answered = Buffer.concat(chunks).toString();
          const value: unknown = answered === '' ? undefined : JSON.parse(answered);
          resolve({ status: response.statusCode!, body: value as never });
        });
      });
      sent.end(text);
    });
  }
}

export interface AskOptions {
  headers?: Record<string, string>;
  /** default: any success */
  statuses?: readonly number[];
}
