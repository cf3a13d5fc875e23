import { PAGE_ATTEMPTS, type AttemptPage } from '../domain/attempts';
import type { AttemptRecord, Run } from '../domain/run';
import type { ControlEntry, Ports } from '../ports';

/**
 * Beyond the end of a run as it was then: the waits to come put that off. What is kept beside a run that goes on for longer than
 * all that may be gone before it.
 */
const KEPT_MS = 400 * 86_400_000;

const nameOf = ({ jobId, runId }: Run, first: number) => `attempts:${jobId}:${runId}:${first}`;

/** Keeps these of a run's attempts beside it. Doing it twice does no harm. */
export async function keepBeside(
  run: Run,
  pages: readonly AttemptPage[],
  { control, settings }: Pick<Ports, 'control' | 'settings'>,
): Promise<void> {
  const expiresAt = run.expiresAt + settings.failedRetentionMs + KEPT_MS;
  for (const { first, records } of pages) {
    // Where such an entry stands, it has these records: they are of attempts that were over long ago.
    await control.put({ name: nameOf(run, first), value: JSON.stringify(records), expiresAt });
  }
}

/** The run with the records of all its attempts, the first one first. */
export async function withAllAttempts(run: Run, { control }: Pick<Ports, 'control'>): Promise<Run> {
  const { attemptsBeside = 0 } = run;
  const pages = Array.from({ length: attemptsBeside / PAGE_ATTEMPTS }, (_, page) => page * PAGE_ATTEMPTS);
  if (pages.length === 0) return run;
  const entries = await Promise.all(pages.map((first) => control.read(nameOf(run, first))));
  const beside = entries.flatMap((entry?: ControlEntry) => (entry ? (JSON.parse(entry.value) as AttemptRecord[]) : []));
  return { ...run, attempts: [...beside, ...run.attempts] };
}
