import { LIMITS } from '../domain/limits';
import { instant, object, plainText } from './rules';

const remark = plainText(LIMITS.remarkCharacters);

/** What `POST /jobs/{jobId}/pause` takes; it may be left out. */
export const pauseBody = object(
  { reason: remark.optional(), by: remark.optional() },
  'an object such as { "reason": "the database moves", "by": "ops" }',
);

/** What actions take that have nothing to say: an empty object, or no body at all. */
export const emptyBody = object({}, 'left out, or an empty object');

/** What `POST /jobs/{jobId}/backfill` takes. */
export const backfillBody = object(
  { from: instant(), to: instant() },
  'an object { "from": "2027-06-01T00:00:00Z", "to": "2027-06-02T00:00:00Z" }',
);
