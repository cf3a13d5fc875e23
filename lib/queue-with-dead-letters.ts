import { Duration } from 'aws-cdk-lib';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** The longest that SQS keeps a message. A dead letter's age counts from its first sending, so both queues keep as long. */
const KEPT = Duration.days(14);

/** AWS advises a visibility of six times the function's time-out, so that a throttled batch is not taken anew meanwhile. */
const ADVISED_FACTOR = 6;

/** Function time-outs from which six times would keep a lost message away for more than an hour. */
const LONG_SECONDS = 600;

/** For a function that may run so long: never below its time-out, or AWS refuses the mapping. */
export function visibilityFor(functionTimeout: Duration): Duration {
  const seconds = functionTimeout.toSeconds();
  return Duration.seconds(seconds >= LONG_SECONDS ? seconds : seconds * ADVISED_FACTOR);
}

export interface QueueWithDeadLettersProps {
  consumerTimeout: Duration;
  /** deliveries before a message moves to the dead-letter queue */
  maxReceives: number;
  /** of another queue, whose messages are carried on alike; absent: one of its own */
  deadLetters?: Queue;
}

/** A queue that one of our functions consumes, and where its messages end that cannot be carried. */
export class QueueWithDeadLetters extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { consumerTimeout, maxReceives, deadLetters }: QueueWithDeadLettersProps) {
    super(scope, id);
    this.deadLetters = deadLetters ?? new Queue(this, 'DeadLetters', { retentionPeriod: KEPT });
    this.queue = new Queue(this, 'Queue', {
      retentionPeriod: KEPT,
      visibilityTimeout: visibilityFor(consumerTimeout),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maxReceives },
    });
  }
}
