/**
 * What is counted for CloudWatch, and how. Lambda's logs carry it (the "embedded metric format"): a metric is part of a
 * log line that is written anyway, neither a call nor a line of its own. No import here: the infrastructure reads this page too.
 */

export const METRICS_NAMESPACE = 'Escapement';

/** Metrics of one deployment are told apart from another's by the name of its stack. */
export const METRICS_DIMENSION = 'Stack';

/** Every metric and its unit. */
export const METRICS = {
  /** ticks that came to their end */
  Ticks: 'Count',
  RunsDone: 'Count',
  RunsFailed: 'Count',
  /** occurrences, of which several may share one record */
  RunsSkipped: 'Count',
  RunsCancelled: 'Count',
  /** from the instant that an attempt was due at until its start */
  LatenessMs: 'Milliseconds',
} as const;

export type Measures = { [Name in keyof typeof METRICS]?: number };

/** What a log line has to carry besides, so that CloudWatch reads these values out of it. `at` in epoch ms. */
export function embedded(measures: Measures, stackName: string, at: number): object {
  const names = Object.keys(measures) as (keyof Measures)[];
  if (names.length === 0) return {};
  return {
    _aws: {
      Timestamp: at,
      CloudWatchMetrics: [
        {
          Namespace: METRICS_NAMESPACE,
          Dimensions: [[METRICS_DIMENSION]],
          Metrics: names.map((name) => ({ Name: name, Unit: METRICS[name] })),
        },
      ],
    },
    [METRICS_DIMENSION]: stackName,
    ...measures,
  };
}
