import { rawAt } from '../../../src/messages/raw-json';
import { isFinal } from '../../../src/domain/run';
import type { Job } from '../../../src/domain/job';
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
      const run = detail as { jobId: string; runId: string } | undefined;
      const writes = run && facts.runWrites.get(`${run.jobId} ${run.runId}`);
      if (writes && !isFinal(writes.at(-1)!.after.state)) accuse('the run goes on');
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
      if (!facts.cloud.stores.groups.heads.read(group.groupId)) accuse('no such group');
      return;
    }
    default:
      return;
  }
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
