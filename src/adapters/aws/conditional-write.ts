import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import type { Attributes } from './attributes';

export type WriteOutcome =
  /** `returned` is what the command's `ReturnValues` asked for */
  | { applied: true; returned: Attributes | undefined }
  /** `standing` is the item that the condition failed on, if there is one and the database tells */
  | { applied: false; standing: { payloadItemId?: string } | undefined };

/** Marks one write, so that it can be told from another's; twelve characters, since every byte of a row is paid for. */
export function newWriteId(): string {
  return randomBytes(9).toString('base64url');
}

/**
 * Sends a conditional write whose item carries `writeId` and which asks for `ReturnValuesOnConditionCheckFailure: 'ALL_OLD'`.
 *
 * The SDK sends a request again when its answer is lost. The first sending may have taken effect, and then the second one fails on
 * the condition that the first one made false: a claim would be lost to itself. The item that comes back with the failure costs
 * nothing and shows by its `writeId` that it is ours. Where it does not come back (an emulator), or somebody wrote in between, the
 * answer is "not applied", and the caller reads again and decides, as it must anyway.
 */
export async function sendConditional(
  write: Promise<{ Attributes?: Attributes | undefined }>,
  writeId: string,
): Promise<WriteOutcome> {
  try {
    return { applied: true, returned: (await write).Attributes };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    if (error.Item?.['writeId']?.S === writeId) return { applied: true, returned: undefined };
    const payloadItemId = error.Item?.['payloadItemId']?.S;
    return { applied: false, standing: error.Item && (payloadItemId === undefined ? {} : { payloadItemId }) };
  }
}
