import type { Context, Hono } from 'hono';
import { NotFoundError } from '../domain/errors';
import { RawJson } from '../messages/raw-json';
import type { Ports } from '../ports';
import { Problem } from './problem';
import { readQuery, readText, takeQuery } from './request';
import { json, route } from './router';

/** Local only: the command queues and their replies, for tests and the curious. */
export type QueuePorts = Pick<Ports, 'commands' | 'replies'>;

export function queueRoutes(app: Hono, { commands, replies }: QueuePorts): void {
  route(app, '/queues/:queue', {
    POST: async (c) => {
      const [name, queue] = queueIn(c, commands, 'takes commands');
      const body = await readText(c);
      if (body === '') throw new Problem(400, 'The body is empty; send the message as the body.');
      await queue.send([{ body }]);
      return json(202, { queue: name });
    },
    GET: async (c) => {
      const [, queue] = queueIn(c, replies, 'gives replies');
      const { max = '10' } = readQuery(c, takeQuery);
      const taken = await queue.receive(Number(max));
      await queue.remove(taken.map(({ receipt }) => receipt));
      return json(200, { items: taken.map(({ body }) => new RawJson(body)) });
    },
  });
}

/** @throws NotFoundError that lists the names there are */
function queueIn<Queues extends object>(c: Context, queues: Queues, does: string) {
  const name = c.req.param('queue') ?? '';
  if (Object.hasOwn(queues, name)) return [name, queues[name as keyof Queues]] as const;
  const known = Object.keys(queues).join(', ');
  throw new NotFoundError('queue', `no queue ${JSON.stringify(name)} ${does} here; those that do: ${known}`);
}
