import { groupIdOf } from '../../src/domain/group';
import { ConflictError, InputError, NotFoundError, PreconditionError } from '../../src/domain/errors';
import { readAddedJobs, readBatch, readChain } from '../../src/messages/group-request';
import { readJobChanges } from '../../src/messages/job-changes';
import { readJobRequest } from '../../src/messages/job-request';
import { cancelGroup, retryGroup } from '../../src/operations/change-group';
import { cancelRun } from '../../src/operations/cancel-run';
import { completeRun, heartbeat } from '../../src/operations/complete-run';
import { addToBatch, createGroup } from '../../src/operations/create-group';
import { createJob } from '../../src/operations/create-job';
import { createJobs } from '../../src/operations/create-jobs';
import { createNotification } from '../../src/operations/create-notification';
import { deleteJob } from '../../src/operations/delete-job';
import { deleteNotification } from '../../src/operations/delete-notification';
import { editJob } from '../../src/operations/edit-job';
import { flushFailed, forgetFailed, listFailed, retryAllFailed, retryFailed } from '../../src/operations/failed-runs';
import { pauseJob, resumeJob } from '../../src/operations/pause-job';
import { listRuns } from '../../src/operations/read-job';
import { backfillJob, triggerJob } from '../../src/operations/trigger-job';
import { isFinal } from '../../src/domain/run';
import type { NotificationState } from '../../src/domain/notification';
import type { Ports } from '../../src/ports';
import { functionArn } from '../support/builders';
import { Chance } from './chance';
import type { Cloud } from './cloud';
import type { Completed } from './functions';
import type { Operation } from './plan';

/** A request that got no answer is sent again so often, under the same id. */
const MOST_REPEATS = 3;

/** The outside: people and programs that ask for things, and ask again when no answer comes. */
export class Callers {
  readonly #cloud: Cloud;
  readonly #chance: Chance;
  readonly #groups = new Map<string, 'chain' | 'batch'>();
  /** subscriptions that were acknowledged, by the request that made them */
  readonly #subscribed = new Map<string, string>();

  constructor(cloud: Cloud, seed: number) {
    this.#cloud = cloud;
    this.#chance = new Chance(seed, 'callers');
    cloud.onCompletion = (completed) => this.#complete(completed);
    cloud.onAddition = (batchId, requestId, count) => this.#addFromInside(batchId, requestId, count);
  }

  ask(operation: Operation): void {
    if (operation.kind === 'chain' || operation.kind === 'batch') this.#groups.set(operation.requestId, operation.kind);
    this.#try(operation, (ports) => this.#carryOut(operation, ports), 0);
  }

  #try(operation: Operation, work: (ports: Ports) => Promise<unknown>, repeats: number): void {
    const { time, witness } = this.#cloud;
    const again = (why: string) => {
      witness.tell(time.now, 'caller', `${operation.kind} ${operation.requestId} has no answer: ${why}`);
      if (repeats < MOST_REPEATS && this.#chance.isHit(0.8)) {
        time.after(this.#chance.between(500, 40_000), () => this.#try(operation, work, repeats + 1));
      } else witness.answers.push({ operation, at: time.now, kind: 'unknown' });
    };
    witness.tell(time.now, 'caller', `asks: ${shown(operation)}`);
    this.#cloud
      .ask(({ ports }) => work(ports))
      .then(
        (answered) => {
          if (!answered) return again('its process died, or took too long');
          witness.tell(time.now, 'caller', `${operation.kind} ${operation.requestId} is answered`);
          witness.answers.push({ operation, at: time.now, kind: 'done', detail: answered.answer });
        },
        (error: Error) => {
          if (!isRefusal(error)) return again(`${error.name}: ${error.message}`);
          witness.tell(time.now, 'caller', `${operation.kind} ${operation.requestId} is refused: ${error.message}`);
          witness.answers.push({ operation, at: time.now, kind: 'refused', detail: error });
        },
      );
  }

  async #carryOut(operation: Operation, ports: Ports): Promise<unknown> {
    const { requestId } = operation;
    switch (operation.kind) {
      case 'create':
        return this.#create(operation, ports);
      case 'edit': {
        const { jobId, body } = operation;
        return editJob(jobId, readJobChanges(body, JSON.parse(body)), undefined, ports);
      }
      case 'pause':
        return pauseJob(operation.jobId, { reason: 'simulated' }, ports);
      case 'resume':
        return resumeJob(operation.jobId, ports);
      case 'delete':
        return deleteJob(requestId, operation.jobId, ports);
      case 'delete-by-queue':
        return ports.commands['job-delete'].send([commandOf({ requestId, jobId: operation.jobId })]);
      case 'trigger':
        return triggerJob(requestId, operation.jobId, ports);
      case 'backfill': {
        const toAt = ports.clock.now() - 1_000;
        return backfillJob(operation.jobId, { fromAt: toAt - 120_000, toAt }, ports);
      }
      case 'cancel': {
        const { items } = await listRuns({ jobId: operation.jobId, limit: 100 }, ports);
        const run = items.find(({ state }) => !isFinal(state)) ?? items[0];
        return run && cancelRun(run.jobId, run.runId, { by: 'somebody' }, ports);
      }
      case 'retry':
      case 'forget': {
        const { items } = await listFailed({ limit: 100, jobId: operation.jobId }, ports);
        if (!items[0]) return undefined;
        const { jobId, runId } = items[0];
        return operation.kind === 'retry' ? retryFailed(jobId, runId, ports) : forgetFailed(jobId, runId, ports);
      }
      case 'retry-all':
        return retryAllFailed({ limit: 100 }, ports);
      case 'flush':
        return flushFailed({ limit: 100 }, ports);
      case 'chain':
      case 'batch': {
        const { kind, body } = operation;
        const read = kind === 'chain' ? readChain : readBatch;
        return createGroup(kind, requestId, read(body, JSON.parse(body)), ports);
      }
      case 'cancel-group':
      case 'retry-group': {
        const kind = this.#groups.get(operation.group) ?? 'batch';
        const change = operation.kind === 'cancel-group' ? cancelGroup : retryGroup;
        return change(kind, groupIdOf(kind, operation.group), ports);
      }
      case 'complete':
      case 'beat':
        return undefined;
      case 'add': {
        const { group, body = '' } = operation;
        return addToBatch(groupIdOf('batch', group), requestId, readAddedJobs(body, JSON.parse(body)), ports);
      }
      case 'subscribe': {
        const { jobId, state, subscriber, by } = operation;
        const arn = functionArn(subscriber);
        if (by === 'queue') {
          const notification = { state, target: { functionArn: arn } };
          return ports.commands['notify-create'].send([commandOf({ requestId, jobId, notification })]);
        }
        const request = { jobId, state: state as NotificationState, functionArn: arn };
        const notification = await createNotification(requestId, request, ports);
        this.#subscribed.set(requestId, notification.notifyId);
        return notification;
      }
      case 'unsubscribe': {
        const { jobId, subscribed } = operation;
        const notifyId = this.#subscribed.get(subscribed);
        return notifyId === undefined ? undefined : deleteNotification(jobId, notifyId, ports);
      }
    }
  }

  async #create(operation: Extract<Operation, { kind: 'create' }>, ports: Ports): Promise<unknown> {
    const { requestId, body, by } = operation;
    if (by === 'queue') {
      return ports.commands['job-create'].send([{ body: `{"version":1,"requestId":"${requestId}","job":${body}}` }]);
    }
    const request = readJobRequest(body, JSON.parse(body));
    if (by === 'api') return createJob(requestId, request, ports);
    const [settled] = await createJobs(requestId, [request], ports);
    if (settled!.status === 'rejected') throw settled!.reason;
    return settled!.value;
  }

  #addFromInside(batchId: string, requestId: string, count: number): void {
    const job = `{"target":{"functionArn":"${functionArn('job-report')}"},"payload":{"inside":"${requestId}"}}`;
    const body = `{"jobs":[${Array(count).fill(job).join(',')}]}`;
    const { time } = this.#cloud;
    const operation: Operation = { kind: 'add', at: time.now, requestId, group: batchId, body };
    this.#try(operation, (ports) => addToBatch(batchId, requestId, readAddedJobs(body, JSON.parse(body)), ports), 0);
  }

  #complete({ jobId, runId, token, completes }: Completed): void {
    const { time } = this.#cloud;
    const { as, beatsEveryMs } = completes;
    const operation = { kind: 'complete', at: time.now, requestId: `complete ${runId}`, jobId, runId } as const;
    const beat = { ...operation, kind: 'beat' } as const;
    if (beatsEveryMs !== undefined && this.#chance.isHit(0.5)) {
      this.#try(beat, (ports) => heartbeat(jobId, runId, token, ports), MOST_REPEATS);
    }
    const completion =
      as === 'returned'
        ? ({ kind: 'returned', result: '{"by":"callback"}' } as const)
        : ({ kind: 'failed', error: { type: 'Partner', message: 'no' } } as const);
    time.after(beatsEveryMs ?? 1, () =>
      this.#try(operation, (ports) => completeRun(jobId, runId, token, completion, ports), 0),
    );
  }
}

function commandOf(command: { requestId: string } & Record<string, unknown>) {
  return { body: JSON.stringify({ version: 1, ...command }) };
}

/** What the API would answer with a status of 4xx. */
function isRefusal(error: unknown): boolean {
  return [ConflictError, InputError, NotFoundError, PreconditionError].some((kind) => error instanceof kind);
}

function shown(operation: Operation): string {
  const { at: _at, ...rest } = operation;
  return JSON.stringify(rest);
}
