/** Prints a notification in one line. It is a CloudEvents 1.0 envelope, sent when a run reaches a state that somebody asked for. */
interface RunNotification {
  /** names this change of state: the same id again is the same news again */
  id: string;
  /** `/jobs/<jobId>` */
  source: string;
  /** the run id */
  subject: string;
  /** such as `escapement.run.done` */
  type: string;
  data: unknown;
}

export default async function print({ source, subject, type, data }: RunNotification) {
  console.log(`${type} ${source} run ${subject} ${JSON.stringify(data)}`);
}
