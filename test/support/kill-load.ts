import { appendFileSync } from 'node:fs';
import { functionArn } from './builders';
import type { LocalProcess } from './local-process';

const JOBS_PER_ROUND = 20;
/** Each kill may cost an attempt: they are many, so that only those that always fail end as FAILED. */
const PATIENT = { maxAttempts: 100, backoff: { kind: 'fixed', seconds: 1 } };

/** What a system is given to do between two kills, and a list, outside of it, of what it has acknowledged. */
export class KillLoad {
  readonly jobs: { jobId: string; fails: boolean }[] = [];
  readonly deleted: string[] = [];
  readonly chains: string[] = [];
  readonly batches: string[] = [];
  readonly cancelledBatches: string[] = [];
  readonly #witness: string;

  /** `witness`: the file that handlers write to, too, so that its lines have one order */
  constructor(witness: string) {
    this.#witness = witness;
  }

  /** What lasts through all kills, and a whole round before the first. */
  async prepare(system: LocalProcess): Promise<void> {
    await this.#post(system, '/jobs/*/notifications', {
      state: 'DONE',
      target: { functionArn: functionArn('notice') },
    });
    await this.#post(system, '/jobs', {
      ...this.#job('every-second', 20),
      jobId: 'every-second',
      schedule: 'rate(1 second)',
    });
    await Promise.all(this.round(system, 0));
  }

  /** Each ends when it was acknowledged, or rejects when the system was killed before. What an early kill still lets in changes from round to round. */
  round(system: LocalProcess, round: number): Promise<void>[] {
    const singles = () =>
      Array.from({ length: JOBS_PER_ROUND }, (_, index) => this.#single(system, `${round}-${index}`, index));
    const others = () => [
      this.#deletedJob(system, round),
      this.#chain(system, round),
      ...this.#twoBatches(system, round),
    ];
    if (round % 2 === 0) return [...singles(), ...others()];
    return [...others(), ...singles()];
  }

  async #single(system: LocalProcess, label: string, index: number) {
    const fails = index % 10 === 0;
    const job = this.#job(label, index % 7 === 0 ? 300 : 20, fails);
    const delay = index % 3 === 0 ? { delaySeconds: 1 + (index % 5) } : {};
    await this.#post(system, '/jobs', { ...job, ...delay, jobId: label });
    this.jobs.push({ jobId: label, fails });
    this.#note('created', label);
  }

  async #deletedJob(system: LocalProcess, round: number) {
    const jobId = `deleted-${round}`;
    await this.#post(system, '/jobs', { ...this.#job(jobId, 20), jobId, delaySeconds: 5 });
    const { status } = await system.request('DELETE', `/jobs/${jobId}`);
    if (status !== 204) throw new Error(`${jobId} was not deleted`);
    this.deleted.push(jobId);
    this.#note('deleted', jobId);
  }

  async #chain(system: LocalProcess, round: number) {
    const jobs = [1, 2, 3].map((step) => this.#job(`chain-${round}-${step}`, 50));
    const { chainId } = await this.#post(system, '/chains', { jobs });
    this.chains.push(chainId!);
    this.#note('created', `chain-${round}`);
  }

  #twoBatches(system: LocalProcess, round: number): Promise<void>[] {
    const add = async (cancel: boolean) => {
      const name = cancel ? `cancelled-${round}` : `batch-${round}`;
      const jobs = [1, 2, 3, 4].map((part) => ({
        ...this.#job(`${name}-${part}`, 50),
        ...(cancel ? { delaySeconds: 5 } : {}),
      }));
      const { batchId } = await this.#post(system, '/batches', { jobs });
      if (!cancel) return void this.batches.push(batchId!);
      const { status } = await system.request('POST', `/batches/${batchId}/cancel`);
      if (status >= 300) throw new Error(`${name} was not cancelled`);
      this.cancelledBatches.push(batchId!);
      this.#note('deleted', name);
    };
    return [add(false), add(true)];
  }

  #job(label: string, lastsMs: number, fails = false) {
    return {
      target: { functionArn: functionArn('witness') },
      payload: { witness: this.#witness, lastsMs, fails, label },
      retry: fails ? { ...PATIENT, maxAttempts: 3 } : PATIENT,
    };
  }

  async #post(system: LocalProcess, path: string, body: object) {
    const answer = await system.request('POST', path, body);
    if (answer.status !== 201) throw new Error(`${path} was refused: ${JSON.stringify(answer.body)}`);
    return answer.body as { chainId?: string; batchId?: string };
  }

  #note(what: string, label: string) {
    appendFileSync(this.#witness, `${what} ${label}\n`);
  }
}
