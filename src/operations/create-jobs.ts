import { isAllowedFunction, parseFunctionArn } from '../domain/arn';
import { ConflictError } from '../domain/errors';
import { codeIdOf, guidFrom } from '../domain/guid';
import type { Job } from '../domain/job';
import type { JobRequest } from '../domain/job-request';
import { cachedCode } from './cached-code';
import { createJob, type CreateJobPorts } from './create-job';
import { SendTogether } from './send-together';

/** So many are created side by side: what they send then fills ten requests to the queue. */
const AT_ONCE = 100;

/**
 * Creates jobs that have nothing to do with one another, each as `createJob` does under a request id of its own that derives
 * from this one and its place: what is wrong with one harms no other. An entry that was refused already stays so.
 * @returns for each entry, in their order, the job or why it was not created
 */
export async function createJobs(
  requestId: string,
  entries: readonly (JobRequest | Error)[],
  ports: CreateJobPorts,
): Promise<PromiseSettledResult<Job>[]> {
  const code = cachedCode(ports.code);
  const distinct = withoutTaken(entries);
  const settled: PromiseSettledResult<Job>[] = [];
  for (let from = 0; from < distinct.length; from += AT_ONCE) {
    const some = distinct.slice(from, from + AT_ONCE);
    await putCode(some, { ...ports, code });
    const together = new SendTogether(some.length, ports.clock);
    const portsOfSome = together.through({ ...ports, code });
    const created = some.map(async (entry, index) => {
      try {
        if (entry instanceof Error) throw entry;
        return await createJob(guidFrom('bulk', requestId, String(from + index)), entry, portsOfSome);
      } finally {
        together.over();
      }
    });
    settled.push(...(await Promise.allSettled(created)));
  }
  return settled;
}

/** Of entries with the same id the first one gets it. */
function withoutTaken(entries: readonly (JobRequest | Error)[]): (JobRequest | Error)[] {
  const places = new Map<string, number>();
  return entries.map((entry, index) => {
    if (entry instanceof Error || entry.jobId === undefined) return entry;
    const first = places.get(entry.jobId);
    if (first === undefined) {
      places.set(entry.jobId, index);
      return entry;
    }
    return new ConflictError(
      'jobId',
      `jobs[${first}] of this request has the id ${entry.jobId} already; choose another`,
    );
  });
}

/** Each function once: the jobs of one request mostly call the same. */
async function putCode(
  entries: readonly (JobRequest | Error)[],
  { code, settings }: Pick<CreateJobPorts, 'code' | 'settings'>,
) {
  const functionArns = new Set(entries.flatMap((entry) => (entry instanceof Error ? [] : [entry.functionArn])));
  const allowed = [...functionArns].filter((arn) =>
    isAllowedFunction(parseFunctionArn(arn)!.name, settings.allowedFunctions),
  );
  await Promise.all(
    allowed.map((functionArn) => code.put({ codeId: codeIdOf(functionArn), kind: 'job', functionArn })),
  );
}
