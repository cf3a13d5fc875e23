import type { Hono } from 'hono';
import { notificationBody } from '../messages/commands';
import { checked } from '../messages/rules';
import { createNotification } from '../operations/create-notification';
import { deleteNotification } from '../operations/delete-notification';
import { listNotifications } from '../operations/read-job';
import type { Ports } from '../ports';
import { readJsonBody, requestIdOf } from './request';
import { idIn, jobIdOrAllIn, json, route } from './router';
import { notificationView } from './views';

export type NotificationPorts = Parameters<typeof createNotification>[2] & Pick<Ports, 'ids'>;

export function notificationRoutes(app: Hono, ports: NotificationPorts): void {
  route(app, '/jobs/:jobId/notifications', {
    GET: async (c) => json(200, { items: (await listNotifications(jobIdOrAllIn(c), ports)).map(notificationView) }),
    POST: async (c) => {
      const jobId = jobIdOrAllIn(c);
      const requestId = requestIdOf(c, ports.ids);
      const { state, target } = checked(notificationBody, (await readJsonBody(c)).value);
      const asked = { jobId, state, functionArn: target.functionArn };
      const notification = await createNotification(requestId, asked, ports);
      const location = `/jobs/${jobId}/notifications/${notification.notifyId}`;
      return json(201, notificationView(notification), { location });
    },
  });
  route(app, '/jobs/:jobId/notifications/:notifyId', {
    DELETE: async (c) => {
      await deleteNotification(jobIdOrAllIn(c), idIn(c, 'notifyId'), ports);
      return new Response(null, { status: 204 });
    },
  });
}
