import type { Context, Hono } from 'hono';
import { NotFoundError } from '../domain/errors';
import { OF_ALL } from '../domain/notification';
import { stringify } from '../messages/raw-json';
import { isId } from '../messages/rules';
import { Problem } from './problem';
import { idempotencyKeyOf } from './request';

type Handler = (c: Context) => Promise<Response> | Response;

/**
 * What one path answers to which method; any other method is told so. Every POST may carry an Idempotency-Key: one that is
 * wrong is refused also where a repeat does no harm without it.
 */
export function route(
  app: Hono,
  path: string,
  handlers: Partial<Record<'GET' | 'POST' | 'PATCH' | 'DELETE', Handler>>,
): void {
  for (const [method, handler] of Object.entries(handlers)) {
    app.on(method, path, (c) => {
      if (method === 'POST') idempotencyKeyOf(c);
      return handler(c);
    });
  }
  const allowed = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  app.all(path, (c) => {
    const allow = allowed.join(', ');
    throw new Problem(405, `${c.req.method} is not something that ${c.req.path} answers to; it knows ${allow}.`, {
      headers: { allow },
    });
  });
}

const NAMES = { jobId: 'job', runId: 'run', notifyId: 'notification', chainId: 'chain', batchId: 'batch' } as const;

/** An id in the path. @throws NotFoundError when nothing can have this id: it is not even looked for */
export function idIn(c: Context, field: keyof typeof NAMES): string {
  const id = c.req.param(field) ?? '';
  const what = NAMES[field];
  if (!isId(id))
    throw new NotFoundError(field, `there is no ${what} ${JSON.stringify(id.slice(0, 100).toWellFormed())}`);
  return id;
}

/** Of a job, or of all jobs: what one subscribes to. @throws NotFoundError as `idIn` */
export function jobIdOrAllIn(c: Context): string {
  return c.req.param('jobId') === OF_ALL.jobId ? OF_ALL.jobId : idIn(c, 'jobId');
}

/** Answers with JSON in which raw parts stand as they are. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return textAnswer(status, stringify(value), headers);
}

/** As `json`, with text that is JSON already. */
export function textAnswer(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, { status, headers: { ...headers, 'content-type': 'application/json' } });
}
