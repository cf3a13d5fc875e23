import type { Hono } from 'hono';
import * as z from 'zod';
import { fullPreviewAnswer } from '../messages/preview-answer';
import { previewOf, type PreviewTexts } from '../messages/preview-request';
import { object, rule } from '../messages/rules';
import type { Ports } from '../ports';
import { readQuery } from './request';
import { json, route } from './router';

const text = z.string().optional();
const expression = z.string(
  rule('must be an expression such as cron(0 9 * * ? *), rate(5 minutes), at(2027-06-01T09:00:00) or 0 9 * * MON-FRI'),
);
const previewQuery = object(
  { expression, timezone: text, from: text, anchor: text, count: text, dstGap: text, dstOverlap: text },
  'expression, timezone, from, anchor, count, dstGap and dstOverlap',
);

export function scheduleRoutes(app: Hono, { clock }: Pick<Ports, 'clock'>): void {
  route(app, '/schedules/preview', {
    GET: (c) => {
      const texts = readQuery(c, previewQuery) as PreviewTexts;
      return json(200, fullPreviewAnswer(previewOf(texts, clock.now())));
    },
  });
}
