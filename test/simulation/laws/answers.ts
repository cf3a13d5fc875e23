import { rawAt } from '../../../src/messages/raw-json';
import type { Run } from '../../../src/domain/run';
import type { Job } from '../../../src/domain/job';
import { guidFrom } from '../../../src/domain/guid';
import type { Group } from '../../../src/domain/group';
import type { Answer } from '../witness';
import { grouped, type Facts } from './facts';

/** What was acknowledged is there, as it was asked for. */
export function checkAnswers(facts: Facts): void {
  for (const answer of facts.witness.answers) {
    if (answer.kind === 'done') checkDone(answer, facts);
  }
  checkReplies(facts);
}

function checkDone({ operation, detail, at }: Answer, facts: Facts): void {
  const accuse = (what: string) =>
    facts.accuse('what was acknowledged is kept', `${operation.kind} ${operation.requestId}: ${what}`, at);
  switch (operation.kind) {
    case 'create': {
      if (operation.by === 'queue') return;
      const job = detail as Job;
      const written = facts.jobWrites.get(job.jobId)?.find(({ after }) => after.requestId === job.requestId);
      if (!written) return accuse(`no row of ${job.jobId}`);
      if (written.after.payload !== rawAt(operation.body, ['payload'])) accuse('its payload is another');
      return;
    }
    case 'edit': {
      const { generations } = detail as Job;
      const id = generations.at(-1)?.id;
      if (!facts.jobWrites.get(operation.jobId)?.some(({ after }) => after.generations.some((one) => one.id === id)))
        accuse('no such generation');
      return;
    }
    case 'trigger': {
      const { runId } = detail as { runId: string };
      if (!facts.runWrites.has(`${operation.jobId} ${runId}`)) accuse(`no run ${runId}`);
      return;
    }
    case 'backfill': {
      for (const runId of (detail as { runIds: string[] }).runIds) {
        if (!facts.runWrites.has(`${operation.jobId} ${runId}`)) accuse(`no run ${runId}`);
      }
      return;
    }
    case 'cancel': {
      const run = detail as Run | undefined;
      const last = run && facts.runWrites.get(`${run.jobId} ${run.runId}`)?.at(-1)?.after;
      // Whoever has no runner that takes it is given up, asked to stop or not.
      if (run && last?.state !== 'CANCELLED' && last?.reason !== 'undeliverable') accuse(`the run is ${last?.state}`);
      return;
    }
    case 'complete': {
      const run = facts.runWrites.get(`${operation.jobId} ${operation.runId}`)?.at(-1)?.after;
      if (!run) accuse('no such run');
      return;
    }
    case 'chain':
    case 'batch': {
      const { group } = detail as { group: Group };
      const head = facts.cloud.stores.groups.heads.read(group.groupId);
      if (!head) return accuse('no such group');
      if (jobsIn(head, '', facts) < jobsAsked(operation.body)) accuse('some of its jobs are not there');
      return;
    }
    case 'add': {
      const { groupId } = (detail as { group: Group }).group;
      const head = facts.cloud.stores.groups.heads.read(groupId);
      const prefix = guidFrom('added', groupId, operation.requestId).slice(0, 13);
      if (!head || jobsIn(head, prefix, facts) !== jobsAsked(operation.body ?? ''))
        accuse('what was added is not there');
      return;
    }
    case 'cancel-group': {
      const { groupId } = (detail as { group: Group }).group;
      if (facts.cloud.stores.groups.heads.read(groupId)?.cancelledAt === undefined) accuse('it is not taken back');
      return;
    }
    case 'pause':
    case 'delete': {
      const state = operation.kind === 'pause' ? 'PAUSED' : 'DELETED';
      const writes = facts.jobWrites.get(operation.jobId) ?? [];
      if (!writes.some((write) => write.at <= at && write.after.state === state)) accuse(`it was never ${state}`);
      return;
    }
    case 'retry': {
      const run = detail as Run | undefined;
      const writes = (run && facts.runWrites.get(`${run.jobId} ${run.runId}`)) ?? [];
      const isThere = writes.some(({ after }) => after.series?.number === run?.series?.number);
      if (run && !(run.series && isThere)) accuse('no such series');
      return;
    }
    default:
      return;
  }
}

/** How many jobs the parts of a group have that the head knows, of those whose ids begin like this. */
function jobsIn({ groupId, parts }: Group, prefix: string, { cloud }: Facts): number {
  const known = [...cloud.stores.groups.parts.all()].filter(
    (part) => part.groupId === groupId && parts[part.partId] !== undefined && part.partId.startsWith(prefix),
  );
  return known.reduce((sum, { states }) => sum + states.length, 0);
}

function jobsAsked(body: string): number {
  return (JSON.parse(body) as { jobs: unknown[] }).jobs.flat().length;
}

/** Each command that a queue took is answered, or waits for a person among the dead letters. */
function checkReplies({ cloud, witness }: Facts): void {
  const { replies, deadCommands } = cloud.queues;
  const bodies = Object.values(replies).flatMap((queue) => queue.bodies);
  const answered = grouped(bodies, (body) => String((JSON.parse(body) as { requestId: unknown }).requestId));
  const dead = deadCommands.bodies.join('\n');
  for (const { operation, kind, at } of witness.answers) {
    const isByQueue = ('by' in operation && operation.by === 'queue') || operation.kind === 'delete-by-queue';
    if (!isByQueue || kind !== 'done' || answered.has(operation.requestId)) continue;
    if (!dead.includes(`"requestId":"${operation.requestId}"`)) {
      witness.accuse('each command is answered', `${operation.kind} ${operation.requestId}`, at);
    }
  }
}
