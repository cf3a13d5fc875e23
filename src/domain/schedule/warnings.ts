import { isEvery } from './cron-days';
import { gapsBetween, repeatedBetween } from './dst-changes';
import type { CronSchedule, Item, Schedule } from './schedule';
import { toLocalText, zoneOf } from './zone';

/** A day of the clocks in words: `2027-03-14 at 02:30:00` */
function whenOf(localTime: string): string {
  return localTime.replace('T', ' at ');
}

/** What the owner of a schedule might not expect of it; whole sentences. Changes of the clocks are looked for in (fromAt, untilAt]. */
export function warningsFor(schedule: Schedule, fromAt: number, untilAt: number): string[] {
  switch (schedule.kind) {
    case 'at':
      if (!schedule.ambiguous) return [];
      return [
        `The clocks of ${schedule.timezone} show this time twice: the first is taken, ${toLocalText(schedule.at, schedule.timezone)}.`,
      ];
    case 'rate':
      return schedule.unit === 'day' && changesClocks(schedule.timezone, fromAt, untilAt)
        ? [
            'A day of a rate is 24 hours: when the clocks change, the local time of the runs moves. Write cron(...) for a fixed local time.',
          ]
        : [];
    case 'cron':
      return [
        ...aboutGap(schedule, fromAt, untilAt),
        ...aboutOverlap(schedule, fromAt, untilAt),
        ...aboutFields(schedule),
      ];
  }
}

function changesClocks(timezone: string, fromAt: number, untilAt: number): boolean {
  const zone = zoneOf(timezone, fromAt / 1000);
  const index = zone.indexAt(fromAt / 1000);
  zone.knowUntil(untilAt / 1000);
  return zone.hasNext(index) && zone.start(index + 1) * 1000 <= untilAt;
}

function aboutGap(cron: CronSchedule, fromAt: number, untilAt: number): string[] {
  const [gap] = gapsBetween(cron, fromAt, untilAt, 1);
  if (gap === undefined) return [];
  const after = toLocalText(gap.gapAt, cron.timezone);
  const fate =
    cron.dst.gap === 'run-after'
      ? `that occurrence runs at the end of the gap, ${after}`
      : `that occurrence is skipped; with dst.gap "run-after" it would run at ${after}`;
  return [`${whenOf(gap.localTime)} does not exist in ${cron.timezone}, where the clocks go forward: ${fate}.`];
}

function aboutOverlap(cron: CronSchedule, fromAt: number, untilAt: number): string[] {
  const [repeated] = repeatedBetween(cron, fromAt, untilAt, 1);
  if (repeated === undefined) return [];
  const first = toLocalText(repeated.firstAt, cron.timezone);
  const second = toLocalText(repeated.secondAt, cron.timezone);
  const fate = {
    first: `it runs at the first, ${first}`,
    second: `it runs at the second, ${second}`,
    both: `it runs at both, ${first} and ${second}`,
  }[cron.dst.overlap];
  return [`${whenOf(repeated.localTime)} comes twice in ${cron.timezone}, where the clocks go back: ${fate}.`];
}

function aboutFields({ fields }: CronSchedule): string[] {
  return [
    ...aboutStep(fields.seconds, 60, 'second', 'minute'),
    ...aboutStep(fields.minutes, 60, 'minute', 'hour'),
    ...aboutStep(fields.hours, 24, 'hour', 'day'),
    ...aboutDays(fields),
  ];
}

/** `*` with a step that does not divide the whole, such as every 7 of 60 minutes */
function aboutStep(items: readonly Item[], size: number, unit: string, whole: string): string[] {
  const [item] = items;
  if (items.length !== 1 || item?.kind !== 'range') return [];
  const isOpen = item.to === size - 1 && item.from < item.step;
  if (!isOpen || size % item.step === 0 || item.from + item.step > item.to) return [];
  return [
    `Every ${item.step} ${unit}s begins anew each ${whole}, so that the last interval is shorter: rate(${item.step} ${unit}s) keeps its rhythm.`,
  ];
}

function aboutDays(fields: CronSchedule['fields']): string[] {
  const warnings: string[] = [];
  if (!isEvery(fields.daysOfMonth) && !isEvery(fields.daysOfWeek)) {
    warnings.push(
      'Day-of-month and day-of-week are both given: in Unix cron a day that matches either of them counts.',
    );
  }
  const late = fields.daysOfMonth.find((item) => {
    if (item.kind === 'nearest-workday') return item.day > 28;
    return item.kind === 'range' && item.from > 28;
  });
  if (late !== undefined && isEvery(fields.months)) {
    warnings.push('Months without that day are left out: write L for the last day of every month.');
  }
  return warnings;
}
