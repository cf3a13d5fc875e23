import { checkTimezone } from './timezone-name';
import { DAY_SECONDS, FIRST_YEAR, LAST_YEAR, dateTimeText, dayNumber, timeText } from './calendar';

/** Local times of 1970 to 2199 lie between these two, in seconds UTC; offsets are at most 15 hours. */
export const FIRST_SECOND = dayNumber(FIRST_YEAR - 1, 12, 30) * DAY_SECONDS;
export const END_SECOND = dayNumber(LAST_YEAR + 1, 1, 3) * DAY_SECONDS;

/** A local time can repeat or be missing only this near to a change of offset: no change is larger than a day. */
export const MARGIN_SECONDS = 2 * DAY_SECONDS;

/**
 * Two changes of offset have never been nearer to each other than 6.96 days since 1970 (Recife 2000), nor are they in the
 * forecasts of Ramadan, which the IANA data end in 2087 (Gaza 2040); after that there are two changes a year.
 */
const PROBE_SECONDS = 6 * DAY_SECONDS;
const LATE_PROBE_SECONDS = 30 * DAY_SECONDS;
const LATE_SECOND = dayNumber(2090, 1, 1) * DAY_SECONDS;

/** How much more than asked for is looked up at once. */
const STRIDE_SECONDS = 366 * DAY_SECONDS;

/**
 * The clock of one time zone, as stretches of time with one offset from UTC each; in seconds. What Intl says about it is
 * looked up once, for the years that are asked for, and kept. Before 1970 and after 2199 the nearest offset goes on.
 */
export class Zone {
  /** first second of each stretch, ascending; the first is where the knowledge begins */
  private readonly starts: number[];
  private readonly offsets: number[];
  private knownUntil: number;
  /** Stretches are numbered from the first that was ever known, earlier ones negatively, so that numbers stay good. */
  private earlier = 0;
  private readonly offsetAt: (utc: number) => number;

  constructor(offsetAt: (utc: number) => number, around: number) {
    this.offsetAt = offsetAt;
    const at = Math.min(Math.max(Math.floor(around), FIRST_SECOND), END_SECOND);
    this.starts = [at];
    this.offsets = [offsetAt(at)];
    this.knownUntil = at;
  }

  /** Looks up the changes up to a margin after this second. */
  knowUntil(utc: number): void {
    const until = Math.min(utc + MARGIN_SECONDS, END_SECOND);
    if (until <= this.knownUntil) return;
    const end = Math.min(until + STRIDE_SECONDS, END_SECOND);
    for (const change of this.changesBetween(this.knownUntil, end)) {
      this.starts.push(change.at);
      this.offsets.push(change.offset);
    }
    this.knownUntil = end;
  }

  /** Looks up some more of the changes up to this second. Answers false when they were all known. */
  knowMore(utc: number): boolean {
    if (this.knownUntil >= Math.min(utc, END_SECOND)) return false;
    this.knowUntil(this.knownUntil);
    return true;
  }

  /** Looks up the changes from a margin before this second. */
  knowFrom(utc: number): void {
    const known = this.starts[0]!;
    const from = Math.max(utc - MARGIN_SECONDS, FIRST_SECOND);
    if (from >= known) return;
    const begin = Math.max(from - STRIDE_SECONDS, FIRST_SECOND);
    const changes = this.changesBetween(begin, known);
    this.starts.splice(0, 1, begin, ...changes.map((change) => change.at));
    this.offsets.splice(0, 1, this.offsetAt(begin), ...changes.map((change) => change.offset));
    this.earlier += changes.length;
  }

  /** The number of the stretch that this second lies in; what lies within the margin around it is known then, too. */
  indexAt(utc: number): number {
    this.knowFrom(utc);
    this.knowUntil(utc);
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle]! <= utc) low = middle;
      else high = middle - 1;
    }
    return low - this.earlier;
  }

  hasPrevious(index: number): boolean {
    return index + this.earlier > 0;
  }

  hasNext(index: number): boolean {
    return index + this.earlier + 1 < this.starts.length;
  }

  offset(index: number): number {
    return this.offsets[index + this.earlier]!;
  }

  /** first second UTC of the stretch; -Infinity for the first that is known */
  start(index: number): number {
    return this.hasPrevious(index) ? this.starts[index + this.earlier]! : -Infinity;
  }

  /** What the clock shows at the first second of the stretch. */
  localStart(index: number): number {
    return this.start(index) + this.offset(index);
  }

  /** What the clock would show at the end of the stretch, which is no longer in it; Infinity for the last that is known. */
  localEnd(index: number): number {
    return this.hasNext(index) ? this.starts[index + this.earlier + 1]! + this.offset(index) : Infinity;
  }

  private changesBetween(from: number, until: number): { at: number; offset: number }[] {
    const changes: { at: number; offset: number }[] = [];
    let at = from;
    let offset = this.offsetAt(at);
    while (at < until) {
      const probe = Math.min(at + (at < LATE_SECOND ? PROBE_SECONDS : LATE_PROBE_SECONDS), until);
      if (this.offsetAt(probe) === offset) {
        at = probe;
        continue;
      }
      at = this.changeBetween(at, probe, offset);
      offset = this.offsetAt(at);
      changes.push({ at, offset });
    }
    return changes;
  }

  /** The first second whose offset is no longer this one. */
  private changeBetween(from: number, until: number, offset: number): number {
    let low = from;
    let high = until;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }
}

function offsetsFromIntl(timezone: string): (utc: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (utc) => {
    const [month, day, year, hour, minute, second] = format
      .format(utc * 1000)
      .split(/\D+/)
      .map(Number) as [number, number, number, number, number, number];
    return dayNumber(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second - utc;
  };
}

/** More than there are zones: names are taken in any case, and no caller shall fill the memory with spellings. */
const MOST_ZONES = 1000;
const zones = new Map<string, Zone>();

/**
 * The clock of an IANA zone, kept for the life of the process. `around` (seconds UTC) says where to begin a new one.
 * @throws ScheduleError for a name that `checkTimezone` refuses
 */
export function zoneOf(timezone: string, around: number): Zone {
  let zone = zones.get(timezone);
  if (zone === undefined) {
    checkTimezone(timezone);
    if (zones.size >= MOST_ZONES) zones.clear();
    zone = new Zone(offsetsFromIntl(timezone), around);
    zones.set(timezone, zone);
  }
  return zone;
}

/** An instant (epoch ms) as the clocks of the zone show it, cut to the second: `2027-03-28T02:30:00+01:00`. */
export function toLocalText(at: number, timezone: string): string {
  const utc = Math.floor(at / 1000);
  const zone = zoneOf(timezone, utc);
  const offset = zone.offset(zone.indexAt(utc));
  const clock = timeText(Math.abs(offset));
  // Only Liberia before 1972 had seconds in its offset.
  return `${dateTimeText(utc + offset)}${offset < 0 ? '-' : '+'}${clock.endsWith(':00') ? clock.slice(0, 5) : clock}`;
}
