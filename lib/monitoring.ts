import { Aws, Duration } from 'aws-cdk-lib';
import {
  Alarm,
  AlarmStatusWidget,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  MathExpression,
  Metric,
  TreatMissingData,
  type IMetric,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct, type IConstruct } from 'constructs';
import { METRICS_DIMENSION, METRICS_NAMESPACE, type METRICS } from '../lambdas/metrics';
import { QueueWithDeadLetters } from './queue-with-dead-letters';
import type { EscapementSettings } from './settings';

/**
 * Nothing younger need be wrong: a message may be sent 900 s ahead of its second, and lies in the queue for as long as its
 * attempt lasts, 900 s at most.
 */
const OLDEST_ACTIVATION = Duration.seconds(1_800);

/** Fewer runs than these within the quarter of an hour say nothing by their ratio. */
const LEAST_RUNS = 10;
const MOST_FAILED_PERCENT = 20;

export interface MonitoringProps {
  /** every function and dead-letter queue below it is watched */
  watched: IConstruct;
  activationQueues: readonly IQueue[];
  /** what ticks send again by themselves, and where it lies meanwhile */
  deadActivations: IQueue;
  settings: EscapementSettings;
}

/** An alarm as people meet it. */
interface Watch {
  /** also the heading of its page in docs/runbook.md */
  heading: string;
  /** which of several, such as a queue */
  of?: string;
  /** `high`: runs do not start, or soon will not; `medium`: look at it within the day */
  severity: 'high' | 'medium';
  /** what it means, in one sentence */
  meaning: string;
  metric: IMetric;
  /** the alarm rings from this value on, or, of what is missing, below it */
  threshold: number;
  /** periods of its metric, all of them */
  periods: number;
  isMissed?: boolean;
}

/** Alarms and the dashboard, both only if they are asked for: each has its price. */
export class Monitoring extends Construct {
  private readonly props: MonitoringProps;
  private readonly functions: LambdaFunction[];
  private readonly consumed: QueueWithDeadLetters[];

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.props = props;
    const all = props.watched.node.findAll();
    this.functions = all.filter((one) => one instanceof LambdaFunction);
    this.consumed = all.filter((one) => one instanceof QueueWithDeadLetters);
    const alarms = props.settings.alarms ? this.watches().map((watch) => this.alarm(watch)) : [];
    if (props.settings.dashboard) this.dashboard(alarms);
  }

  private watches(): Watch[] {
    return [
      {
        heading: 'No tick for two minutes',
        severity: 'high',
        meaning: 'The scheduler has not come to the end of a tick, so that nothing new falls due.',
        metric: ours('Ticks', 'Sum', Duration.minutes(1)),
        threshold: 1,
        periods: 2,
        isMissed: true,
      },
      ...this.props.activationQueues.map((queue): Watch => ({
        heading: 'Activations wait too long',
        of: nameOf(queue.node.scope!),
        severity: 'high',
        meaning: `A run has been waiting for a runner for more than ${OLDEST_ACTIVATION.toMinutes()} minutes.`,
        metric: queue.metricApproximateAgeOfOldestMessage(),
        threshold: OLDEST_ACTIVATION.toSeconds(),
        periods: 1,
      })),
      ...[...this.deadLetters()].map(([queue, name]): Watch => ({
        heading: 'Dead letters',
        of: name,
        severity: 'medium',
        meaning: 'A message could not be carried and lies in the dead-letter queue.',
        // Ticks look into that of the activations each minute, and what they look at is hidden for half of it.
        ...(queue === this.props.deadActivations
          ? { metric: withHidden(queue), periods: 3 }
          : { metric: queue.metricApproximateNumberOfMessagesVisible(), periods: 1 }),
        threshold: 1,
      })),
      {
        heading: 'Too many runs fail',
        severity: 'medium',
        meaning: `Of ${LEAST_RUNS} and more runs within 15 minutes ${MOST_FAILED_PERCENT} % or more ended as FAILED.`,
        metric: new MathExpression({
          label: 'failed runs in percent',
          expression: `IF(done + failed >= ${LEAST_RUNS}, 100 * failed / (done + failed), 0)`,
          usingMetrics: { done: ours('RunsDone', 'Sum'), failed: ours('RunsFailed', 'Sum') },
          period: Duration.minutes(15),
        }),
        threshold: MOST_FAILED_PERCENT,
        periods: 1,
      },
      {
        heading: 'Functions are throttled',
        severity: 'medium',
        meaning: 'For a quarter of an hour Lambda has been refusing to start functions of the system.',
        // An alarm takes ten metrics.
        metric: new MathExpression({
          label: 'throttled invocations',
          expression: 'SUM(FILL(METRICS(), 0))',
          usingMetrics: Object.fromEntries(this.functions.map((one, index) => [`f${index}`, one.metricThrottles()])),
        }),
        threshold: 1,
        periods: 3,
      },
    ];
  }

  /** Each dead-letter queue once, named after what it is of. */
  private deadLetters(): Map<IQueue, string> {
    const names = new Map<IQueue, string>();
    for (const one of this.consumed) if (!names.has(one.deadLetters)) names.set(one.deadLetters, nameOf(one));
    return names;
  }

  private alarm({ heading, of, severity, meaning, metric, threshold, periods, isMissed = false }: Watch): Alarm {
    const { runbookUrl, alarmTopicArn } = this.props.settings;
    const alarm = new Alarm(this, idOf(`${heading} ${of ?? ''}`), {
      // Read in a mail at night, so that it has a name in spite of the house.
      alarmName: `${Aws.STACK_NAME}: ${heading}${of === undefined ? '' : ` (${of})`}`,
      alarmDescription: `Severity: ${severity}. ${meaning} What to do: ${runbookUrl}#${anchorOf(heading)}`,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: isMissed
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isMissed ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    if (alarmTopicArn !== '') {
      const topic = new SnsAction(Topic.fromTopicArn(alarm, 'Topic', alarmTopicArn));
      alarm.addAlarmAction(topic);
      alarm.addOkAction(topic);
    }
    return alarm;
  }

  private dashboard(alarms: Alarm[]) {
    const { activationQueues } = this.props;
    const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, width: 8 });
    const ofFunctions = (metric: (one: LambdaFunction) => Metric) =>
      this.functions.map((one) => metric(one).with({ label: nameOf(one.node.scope!) }));
    new Dashboard(this, 'Dashboard', {
      widgets: [
        alarms.length > 0 ? [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24 })] : [],
        [
          graph('Runs', [
            ours('RunsDone', 'Sum'),
            ours('RunsFailed', 'Sum'),
            ours('RunsSkipped', 'Sum'),
            ours('RunsCancelled', 'Sum'),
          ]),
          graph('Lateness of attempts, ms', [ours('LatenessMs', 'p50'), ours('LatenessMs', 'p99')]),
          graph('Ticks', [ours('Ticks', 'Sum', Duration.minutes(1))]),
        ],
        [
          graph(
            'Activations',
            activationQueues.flatMap((queue) => [
              queue.metricApproximateNumberOfMessagesVisible(),
              queue.metricApproximateNumberOfMessagesNotVisible(),
              queue.metricApproximateNumberOfMessagesDelayed(),
            ]),
          ),
          graph(
            'Oldest activation, s',
            activationQueues.map((queue) => queue.metricApproximateAgeOfOldestMessage()),
          ),
          graph(
            'Dead letters',
            [...this.deadLetters()].map(([queue, label]) => queue.metricApproximateNumberOfMessagesVisible({ label })),
          ),
        ],
        [
          graph(
            'Errors of functions',
            ofFunctions((one) => one.metricErrors()),
          ),
          graph(
            'Throttled functions',
            ofFunctions((one) => one.metricThrottles()),
          ),
          graph(
            'Duration of functions, p99 in ms',
            ofFunctions((one) => one.metricDuration({ statistic: 'p99' })),
          ),
        ],
      ],
    });
  }
}

function ours(metricName: keyof typeof METRICS, statistic: string, period = Duration.minutes(5)): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { [METRICS_DIMENSION]: Aws.STACK_NAME },
    statistic,
    period,
  });
}

function withHidden(queue: IQueue): IMetric {
  return new MathExpression({
    label: 'dead letters',
    expression: 'visible + hidden',
    usingMetrics: {
      visible: queue.metricApproximateNumberOfMessagesVisible(),
      hidden: queue.metricApproximateNumberOfMessagesNotVisible(),
    },
  });
}

/** `JobCreate` is job-create, as the queues are called in the README. */
function nameOf({ node }: IConstruct): string {
  return node.id.replace(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
}

function idOf(text: string): string {
  return text.replace(/[^A-Za-z]+([A-Za-z]?)/g, (_, first: string) => first.toUpperCase());
}

/** As GitHub and its kin make them of headings. */
function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}
