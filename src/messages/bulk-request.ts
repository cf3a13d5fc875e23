import * as z from 'zod';
import { InputError } from '../domain/errors';
import type { JobRequest } from '../domain/job-request';
import { LIMITS } from '../domain/limits';
import { readJobRequest } from './job-request';
import { rawAt, rawItems } from './raw-json';
import { checked, object, rule } from './rules';

const says = rule(`must be a list of at most ${LIMITS.bulkJobs} jobs, each as POST /jobs takes it`);

/** What `POST /jobs/bulk` takes. What stands in the list is judged one by one, see `jobBody`. */
export const bulkBody = object(
  { jobs: z.array(z.unknown(), says).max(LIMITS.bulkJobs, says) },
  'an object { "jobs": [{ "target": { "functionArn": "arn:aws:lambda:..." } }, ...] }',
);

/**
 * The jobs that a text asks for, each by itself, or what is wrong with it; `value` is what JSON.parse makes of the text.
 * @throws InputError where the whole is wrong
 */
export function readBulk(text: string, value: unknown): (JobRequest | InputError)[] {
  const { jobs } = checked(bulkBody, value);
  const texts = rawItems(rawAt(text, ['jobs'])!)!;
  return jobs.map((job, index) => {
    try {
      return readJobRequest(texts[index]!, job);
    } catch (error) {
      if (error instanceof InputError) return error;
      throw error;
    }
  });
}
