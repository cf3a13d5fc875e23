import type { Context, Hono } from 'hono';
import { NotFoundError } from '../domain/errors';
import { stringify } from '../messages/raw-json';
import { isId } from '../messages/rules';
import { Problem } from './problem';

type Handler = (c: Context) => Promise<Response> | Response;

/** What one path answers to which method; any other method is told so. */
export function route(
  app: Hono,
  path: string,
  handlers: Partial<Record<'GET' | 'POST' | 'PATCH' | 'DELETE', Handler>>,
): void {
  for (const [method, handler] of Object.entries(handlers)) app.on(method, path, handler);
  const allowed = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  app.all(path, (c) => {
    const allow = allowed.join(', ');
    throw new Problem(405, `${c.req.method} is not something that ${c.req.path} answers to; it knows ${allow}.`, {
      headers: { allow },
    });
  });
}

/** An id in the path. @throws NotFoundError when nothing can have this id: it is not even looked for */
export function idIn(c: Context, field: 'jobId' | 'runId' | 'notifyId'): string {
  const id = c.req.param(field) ?? '';
  const what = { jobId: 'job', runId: 'run', notifyId: 'notification' }[field];
  if (!isId(id))
    throw new NotFoundError(field, `there is no ${what} ${JSON.stringify(id.slice(0, 100).toWellFormed())}`);
  return id;
}

/** Answers with JSON in which raw parts stand as they are. */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return new Response(stringify(value), { status, headers: { ...headers, 'content-type': 'application/json' } });
}
