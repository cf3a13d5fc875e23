import { ConflictError } from '../domain/errors';
import type { JobRow } from '../domain/job';

/** @throws ConflictError for a job of a chain or batch, which alone decides what becomes of it */
export function refuseMember({ jobId, member }: JobRow, done: string): void {
  if (!member) return;
  const { kind, groupId } = member;
  const path = kind === 'chain' ? 'chains' : 'batches';
  throw new ConflictError(
    'jobId',
    `job ${jobId} belongs to ${kind} ${groupId} and cannot be ${done} by itself; cancel the ${kind} (POST /${path}/${groupId}/cancel), or create a job of its own`,
  );
}
