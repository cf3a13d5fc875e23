import type { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';

type Handler = ReturnType<typeof handle>;

/**
 * Answers what API Gateway passes on. A GET may come with a body, which fetch's Request refuses to be made with: nobody reads
 * it, and it is left out, as every HTTP server does.
 */
export function gatewayHandler(app: Hono): Handler {
  const answer = handle(app);
  return (event, context) => answer(isBodiless(event) ? { ...event, body: null } : event, context);
}

function isBodiless(event: Parameters<Handler>[0]): boolean {
  const { http, httpMethod } = event.requestContext as { http?: { method?: string }; httpMethod?: string };
  return ['GET', 'HEAD'].includes(http?.method ?? httpMethod ?? '');
}
