import { Hono } from 'hono';
import { bulkRoutes } from './bulk';
import { failedRoutes, type FailedPorts } from './failed';
import { groupRoutes } from './groups';
import { loopbackOnly } from './guard';
import { jobActionRoutes } from './job-actions';
import { jobRoutes, type JobPorts } from './jobs';
import { notificationRoutes, type NotificationPorts } from './notifications';
import { answerError, Problem } from './problem';
import { queueRoutes, type QueuePorts } from './queues';
import { json, route } from './router';
import { runActionRoutes, type RunActionPorts } from './run-actions';
import { scheduleRoutes } from './schedules';

export type HttpPorts = JobPorts & NotificationPorts & RunActionPorts & FailedPorts;

/** Deployed, callers are known by IAM and the queues are AWS's own; locally the app guards itself and shows them. */
export type AppOptions = { ports: HttpPorts; isLocal: false } | { ports: HttpPorts & QueuePorts; isLocal: true };

/** The HTTP API, the same in the API Lambda and in the local system. */
export function createApp(options: AppOptions): Hono {
  const { ports } = options;
  const app = new Hono();
  app.onError((error, c) => answerError(error, c, ports.journal));
  app.notFound((c) => answerError(new Problem(404, `There is nothing at ${c.req.path}.`), c, ports.journal));

  if (options.isLocal) app.use(loopbackOnly());
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
    c.header('x-content-type-options', 'nosniff');
  });
  route(app, '/health', { GET: () => json(200, { status: 'ok' }) });
  bulkRoutes(app, ports);
  jobRoutes(app, ports);
  jobActionRoutes(app, ports);
  runActionRoutes(app, ports);
  failedRoutes(app, ports);
  groupRoutes(app, ports);
  notificationRoutes(app, ports);
  scheduleRoutes(app, ports);
  if (options.isLocal) queueRoutes(app, options.ports);
  return app;
}
