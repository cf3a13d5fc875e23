import { waitBeforeTry, type Pacing } from './backoff';

/** What SQS takes in one call: ten entries, and a MiB in all. */
const ENTRIES_A_CALL = 10;
export const BYTES_A_CALL = 1024 * 1024;

/** Delayed messages must be accepted soon after they were sent off; a standard queue takes any number of calls at a time. */
const CALLS_AT_A_TIME = 8;
const TRIES = 5;

interface BatchAnswer {
  Successful?: readonly { Id: string | undefined }[] | undefined;
  Failed?:
    | readonly {
        Id: string | undefined;
        Code: string | undefined;
        Message?: string | undefined;
        SenderFault: boolean | undefined;
      }[]
    | undefined;
}

/** What became of one item that was not accepted. */
export interface Failure<Item> {
  item: Item;
  code: string;
  message: string;
  cause?: unknown;
}

/**
 * Sends items in batches. What fails through no fault of its own is sent again, and nothing else; answers what was given up.
 * @param call sends one batch, with the index within the batch as each entry's Id
 */
export async function sendInBatches<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
  call: (batch: readonly Item[]) => Promise<BatchAnswer>,
  pacing: Pacing,
): Promise<Failure<Item>[]> {
  const givenUp: Failure<Item>[] = [];
  let pending = items;
  for (let tries = 1; pending.length > 0; tries += 1) {
    if (tries > 1) await waitBeforeTry(tries - 1, pacing);
    const batches = batchesOf(pending, bytesOf);
    const again: Item[] = [];
    for (let from = 0; from < batches.length; from += CALLS_AT_A_TIME) {
      const calls = batches.slice(from, from + CALLS_AT_A_TIME).map((batch) => failuresOf(batch, call));
      for (const { isFinal, ...failure } of (await Promise.all(calls)).flat()) {
        if (isFinal || tries === TRIES) givenUp.push(failure);
        else again.push(failure.item);
      }
    }
    pending = again;
  }
  return givenUp;
}

function batchesOf<Item>(items: readonly Item[], bytesOf: (item: Item) => number): Item[][] {
  const batches: Item[][] = [];
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (batch.length === ENTRIES_A_CALL || (batch.length > 0 && bytes + bytesOf(item) > BYTES_A_CALL)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += bytesOf(item);
  }
  return batch.length > 0 ? [...batches, batch] : batches;
}

async function failuresOf<Item>(
  batch: readonly Item[],
  call: (batch: readonly Item[]) => Promise<BatchAnswer>,
): Promise<(Failure<Item> & { isFinal: boolean })[]> {
  let answer: BatchAnswer;
  try {
    answer = await call(batch);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return batch.map((item) => ({ item, code: name, message, cause: error, isFinal: isCallersFault(error) }));
  }
  // status 200 says nothing of the entries: only what is listed as successful was taken
  const successful = new Set(answer.Successful?.map(({ Id }) => Id));
  const failed = new Map(answer.Failed?.map((entry) => [entry.Id, entry]));
  return batch.flatMap((item, index) => {
    const entry = failed.get(String(index));
    if (entry) {
      const { Code: code = 'unknown', Message: message = '', SenderFault: isFinal = false } = entry;
      return [{ item, code, message, isFinal }];
    }
    if (successful.has(String(index))) return [];
    return [{ item, code: 'unaccounted', message: 'neither successful nor failed in the answer', isFinal: false }];
  });
}

/** A missing queue or permission: sending again cannot help. The SDK calls throttling a client's fault too, but marks it. */
function isCallersFault(error: unknown): boolean {
  const { $fault, $retryable } = error as { $fault?: string; $retryable?: unknown };
  const { name } = error as { name?: string };
  return $fault === 'client' && $retryable === undefined && !/throttl/i.test(name ?? '');
}
