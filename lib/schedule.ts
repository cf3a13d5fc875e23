import type { Duration } from 'aws-cdk-lib';

/** The fields of a cron expression; those that are left out stand for each value. Each takes lists, ranges and steps. */
export interface CronFields {
  /** 0 to 59; 0 unless given */
  second?: string;
  /** 0 to 59; written always, since each minute of an hour is seldom what is meant */
  minute: string;
  /** 0 to 23 */
  hour?: string;
  /** of the month, 1 to 31; not beside `weekDay` */
  day?: string;
  /** 1 to 12, or JAN to DEC */
  month?: string;
  /** 1 (Sunday) to 7, or SUN to SAT; not beside `day` */
  weekDay?: string;
  year?: string;
}

const UNITS = { day: 86_400, hour: 3_600, minute: 60, second: 1 };

/** When a job runs, as an expression. Beside those of aws-events it knows seconds and single instants. */
export class Schedule {
  readonly expressionString: string;
  private constructor(expressionString: string) {
    this.expressionString = expressionString;
  }

  /** As it is written in a request to the API. What is wrong with it is told when the stack is deployed. */
  static expression(text: string): Schedule {
    return new Schedule(text);
  }

  /** @throws Error where it is not whole seconds, from 1 */
  static rate(period: Duration): Schedule {
    const seconds = period.toSeconds();
    if (seconds < 1) throw new Error('a job cannot run every 0 seconds; give a period of at least a second');
    const [unit, length] = Object.entries(UNITS).find(([, each]) => seconds % each === 0)!;
    const count = seconds / length;
    return new Schedule(`rate(${count} ${unit}${count === 1 ? '' : 's'})`);
  }

  /** @throws Error where both `day` and `weekDay` are given */
  static cron({ second, minute, hour = '*', day, month = '*', weekDay, year = '*' }: CronFields): Schedule {
    if (day !== undefined && weekDay !== undefined) {
      throw new Error('a cron schedule has a day of the month or a day of the week; leave day or weekDay out');
    }
    const days = weekDay === undefined ? [day ?? '*', month, '?'] : ['?', month, weekDay];
    const fields = [...(second === undefined ? [] : [second]), minute, hour, ...days, year];
    return new Schedule(`cron(${fields.join(' ')})`);
  }

  /** Once, at this local time of the job's time zone, such as `2027-06-01T09:00:00`. */
  static at(localTime: string): Schedule {
    return new Schedule(`at(${localTime})`);
  }
}
