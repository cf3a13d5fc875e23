import { isFinal } from '../../../src/domain/run';
import type { Cloud } from '../cloud';
import type { Facts } from './facts';

/** What still has to happen, in words; nothing when all has come to rest. */
export function unrest(cloud: Cloud): string[] {
  const { queues, stores } = cloud;
  const left: string[] = [];
  // What lies in the dead-letter queues of notices and commands waits for a person.
  const { deadNotices: _deadNotices, deadCommands: _deadCommands, replies: _replies, commands, ...ours } = queues;
  for (const queue of [...Object.values(ours), ...Object.values(commands)]) {
    for (const body of queue.bodies) left.push(`${queue.name} holds ${body}`);
  }
  for (const run of stores.runs.rows.all()) {
    if (!isFinal(run.state)) left.push(`${run.jobId} ${run.runId} is ${run.state}`);
  }
  for (const job of stores.jobs.rows.all()) {
    if (job.dueAt !== undefined) left.push(`${job.jobId} is due at ${job.dueAt}`);
  }
  for (const head of stores.groups.heads.all()) {
    if (head.finishedAt === undefined) left.push(`${head.kind} ${head.groupId} is ${head.state}, and not over`);
  }
  return left;
}

/** Once the faults stop, everything that is due is done within the bound. */
export function checkRest(facts: Facts): void {
  for (const what of unrest(facts.cloud).slice(0, 10)) facts.accuse('everything comes to rest', what);
}
