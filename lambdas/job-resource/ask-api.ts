import type { Invoker, InvokeOutcome } from '../../src/ports';

export interface Api {
  invoker: Invoker;
  apiFunctionArn: string;
  wait: (ms: number) => Promise<void>;
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

export interface Question {
  body?: object;
  /** for `Idempotency-Key` */
  key?: string;
  /** the statuses that are no refusal */
  accept: readonly number[];
}

/** Longer than the API's function may take. */
const TIMEOUT_MS = 35_000;
/** CloudFormation makes all jobs of a stack at once, and a new account runs ten functions at a time. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 16_000];

/** What the API refused, in its words. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * Calls the API's function as API Gateway does; whatever is asked may be asked again, and is while there is no answer.
 * @throws RefusedError where the answer is one that is not accepted; Error where there is none
 */
export async function ask(method: string, path: string, question: Question, api: Api): Promise<Answer> {
  const { statusCode, body: text = '' } = await answerTo(eventOf(method, path, question), `${method} ${path}`, api);
  const body = text === '' ? {} : (JSON.parse(text) as Answer['body']);
  if (question.accept.includes(statusCode)) return { status: statusCode, body };
  const { detail = `${method} ${path} was answered ${statusCode}`, errors = [] } = body as {
    detail?: string;
    errors?: { field: string; message: string }[];
  };
  throw new RefusedError([detail, ...errors.map(({ field, message }) => `${field} ${message}`)].join(' '));
}

interface GatewayAnswer {
  statusCode: number;
  body?: string;
}

async function answerTo(event: object, what: string, { invoker, apiFunctionArn, wait }: Api): Promise<GatewayAnswer> {
  const call = { functionArn: apiFunctionArn, event: JSON.stringify(event), timeoutMs: TIMEOUT_MS };
  for (let tries = 0; ; tries++) {
    const outcome = await invoker.invoke(call);
    const answer = outcome.kind === 'returned' ? (JSON.parse(outcome.result) as GatewayAnswer) : undefined;
    if (answer && answer.statusCode < 500) return answer;
    const pause = outcome.kind === 'refused' ? undefined : WAITS_MS[tries];
    if (pause !== undefined) await wait(pause);
    else if (answer) return answer;
    else throw new Error(`the API did not answer ${what}: ${whyNot(outcome)}`);
  }
}

function whyNot(outcome: InvokeOutcome): string {
  switch (outcome.kind) {
    case 'failed':
      return `${outcome.error.type} ${outcome.error.message}`;
    case 'held-back':
    case 'refused':
      return `${outcome.reason}: ${outcome.message}`;
    case 'returned':
      return outcome.kind;
  }
}

function eventOf(method: string, path: string, { body, key }: Question): object {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: {
      host: 'job-resource',
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    requestContext: { http: { method, path }, domainName: 'job-resource' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  };
}
