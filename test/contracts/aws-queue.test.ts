import { SqsQueue } from '../../src/adapters/aws/sqs-queue';
import { systemClock, systemRandom } from '../../src/adapters/system';
import { createEmulatedQueue, emulatedSqs, inRealTime } from '../support/emulated-aws';
import { describeQueueContract } from './queue.contract';

// a file of its own, since an emulator's seconds are real ones: jest waits for them beside other files
const pacing = { clock: systemClock, random: systemRandom };

describeQueueContract('SQS', async (settings) => {
  const client = emulatedSqs();
  const { queueUrl, deadLettersUrl } = await createEmulatedQueue(client, settings);
  return {
    ...inRealTime(client),
    queue: new SqsQueue({ client, queueUrl, ...pacing }),
    ...(deadLettersUrl === undefined
      ? {}
      : { deadLetters: new SqsQueue({ client, queueUrl: deadLettersUrl, ...pacing }) }),
  };
});
