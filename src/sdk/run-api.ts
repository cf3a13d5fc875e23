/** What is used of `fetch`. A deployed API wants signed requests: hand in one that signs them. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string; signal?: AbortSignal },
) => Promise<{ ok: boolean; status: number; text(): Promise<string> }>;

export interface ApiOptions {
  /** where Escapement's API answers; default: the environment variable ESCAPEMENT_API_URL */
  apiUrl?: string;
  /** default: that of the runtime */
  fetch?: Fetch;
}

/** Names an attempt; `token` is there where the job completes by callback. An event that a handler got is one. */
export interface AttemptKey {
  jobId: string;
  runId: string;
  token?: string;
}

/** Ends an attempt of a job that completes by callback, from wherever its work is done. */
export interface Completion {
  /** The attempt has succeeded. `result` becomes JSON. */
  complete: (result?: unknown) => Promise<void>;
  /** The attempt has failed, and is retried as any; an error's name counts as if it had been thrown. */
  fail: (error: { name?: string; message: string }) => Promise<void>;
  /** It is alive, for another `heartbeatSeconds`. Answers whether it is to stop. */
  heartbeat: () => Promise<{ isCancelRequested: boolean }>;
}

/**
 * For this attempt. Each call throws when there is no URL or no token, when the API cannot be reached, or when it refuses: most
 * often since the attempt is over.
 */
export function completionOf(key: AttemptKey, options: ApiOptions = {}): Completion {
  const post = async (action: string, body: object) => {
    const url = runUrl(key, options);
    if (url === undefined) throw new Error('where is the API? give apiUrl, or set ESCAPEMENT_API_URL');
    if (key.token === undefined) {
      throw new Error(`job ${key.jobId} does not complete by callback; create it with "completion": "callback"`);
    }
    return ask(`${url}/${action}`, options, { method: 'POST', body: JSON.stringify({ token: key.token, ...body }) });
  };
  return {
    async complete(result = null) {
      await post('complete', { result });
    },
    async fail({ name = 'Error', message }) {
      await post('fail', { error: { type: name, message } });
    },
    async heartbeat() {
      return { isCancelRequested: (await post('heartbeat', {}))['isCancelRequested'] === true };
    },
  };
}

/** The run as it is now. */
export async function readRun(url: string, options: ApiOptions, signal: AbortSignal): Promise<Record<string, unknown>> {
  return ask(url, options, { method: 'GET', signal });
}

/** Undefined where nobody said where the API is. */
export function runUrl({ jobId, runId }: AttemptKey, { apiUrl }: ApiOptions): string | undefined {
  const base = apiUrl ?? process.env['ESCAPEMENT_API_URL'];
  if (base === undefined || base === '') return undefined;
  return `${base.replace(/\/+$/, '')}/jobs/${encodeURIComponent(jobId)}/runs/${encodeURIComponent(runId)}`;
}

async function ask(
  url: string,
  { fetch = globalThis.fetch }: ApiOptions,
  request: { method: string; body?: string; signal?: AbortSignal },
): Promise<Record<string, unknown>> {
  const headers: Record<string, string> = request.body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(url, { ...request, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${request.method} ${url} was answered with ${answer.status}: ${text.slice(0, 500)}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
