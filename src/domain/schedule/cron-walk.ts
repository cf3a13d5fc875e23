import { nextLocal, previousLocal } from './cron-search';
import type { CronSchedule } from './schedule';
import { END_SECOND, FIRST_SECOND, MARGIN_SECONDS, zoneOf, type Zone } from './zone';

/**
 * From local times to instants. The clock of a zone is a row of stretches with one offset each. Where the clocks go back,
 * two stretches show the same local times; where they go forward, the local times between two stretches are in neither.
 * Which local times of a stretch count is decided by its lowest and highest, so that a search within it stays one look-up.
 */
function lowest(cron: CronSchedule, zone: Zone, index: number): number {
  const start = zone.localStart(index);
  const skipsRepeated = cron.dst.overlap === 'first' && !cron.everyHour && zone.hasPrevious(index);
  return skipsRepeated ? Math.max(start, zone.localEnd(index - 1)) : start;
}

/** The first local time that no longer counts. */
function end(cron: CronSchedule, zone: Zone, index: number): number {
  const localEnd = zone.localEnd(index);
  const leavesRepeated = cron.dst.overlap === 'second' && !cron.everyHour && zone.hasNext(index);
  return leavesRepeated ? Math.min(localEnd, zone.localStart(index + 1)) : localEnd;
}

/** Was this local time swallowed when the stretch began? */
function isInGapBefore(local: number, zone: Zone, index: number): boolean {
  return zone.hasPrevious(index) && local >= zone.localEnd(index - 1) && local < zone.localStart(index);
}

/**
 * The first local time at or after `from` that is lost in the gap before the stretch. An expression for every hour keeps its
 * real rhythm: what it misses by the old clock is not lost if at that very instant it runs by the new one, as it does on any
 * day of its own after a gap of whole hours. In a gap of half an hour `15 * * * *` loses 02:15, since 02:45 is not named.
 */
export function nextLost(cron: CronSchedule, zone: Zone, index: number, from: number): number | undefined {
  const end = zone.localStart(index);
  const length = end - zone.localEnd(index - 1);
  for (let local = nextLocal(cron, from); local < end; local = nextLocal(cron, local + 1)) {
    if (!cron.everyHour || nextLocal(cron, local + length) !== local + length) return local;
  }
  return undefined;
}

/** Does what the gap before the stretch swallows run at its end? */
function runsAfterGap(cron: CronSchedule, zone: Zone, index: number): boolean {
  return nextLost(cron, zone, index, zone.localEnd(index - 1)) !== undefined;
}

/**
 * From where on an expression is known to name nothing. One whose every local time lies in a gap (`30 2 ? 3 SUN#2` in New
 * York) is followed up to the year 2199 before that is certain, which shall happen once, not at each question.
 */
const exhaustedFrom = new WeakMap<CronSchedule, number>();

/** The first occurrence at or after this second UTC. */
export function nextCronSecond(cron: CronSchedule, from: number): number | undefined {
  if (!(from < END_SECOND)) return undefined;
  const first = Math.max(from, FIRST_SECOND);
  const zone = zoneOf(cron.timezone, first);
  const index = zone.indexAt(first);
  if (cron.dst.gap === 'run-after' && first === zone.start(index) && runsAfterGap(cron, zone, index)) return first;
  const local = Math.max(first + zone.offset(index), lowest(cron, zone, index));
  const found = nextLocal(cron, local);
  if (found !== Infinity) zone.knowUntil(found - zone.offset(index));
  if (found < end(cron, zone, index)) return found - zone.offset(index);

  if (first >= (exhaustedFrom.get(cron) ?? Infinity)) return undefined;
  const second = nextInLaterStretch(cron, zone, index, local, found);
  if (second === undefined) exhaustedFrom.set(cron, first);
  return second;
}

/** Goes on where a stretch is over: from `local` in it, `found` is the next local time that matches, at or after its end. */
function nextInLaterStretch(
  cron: CronSchedule,
  zone: Zone,
  index: number,
  local: number,
  found: number,
): number | undefined {
  const runsAfter = cron.dst.gap === 'run-after';
  while (zone.hasNext(index)) {
    const next = index + 1;
    if (runsAfter && isInGapBefore(found, zone, next) && runsAfterGap(cron, zone, next)) return zone.start(next);
    // Between `local` and `found` nothing matches. Unless the clocks go back to before `local`, no stretch on the way counts.
    const canJump = zone.localStart(next) >= local;
    if (canJump && found === Infinity) return undefined;
    const target = found - MARGIN_SECONDS;
    if (canJump && target > zone.start(next)) {
      index = zone.indexAt(target);
      local = found;
    } else {
      index = next;
      local = zone.localStart(next);
    }
    local = Math.max(local, lowest(cron, zone, index));
    found = nextLocal(cron, local);
    if (found !== Infinity) zone.knowUntil(found - zone.offset(index));
    if (found < end(cron, zone, index)) return found - zone.offset(index);
  }
  return undefined;
}

/** The last occurrence at or before this second UTC. */
export function previousCronSecond(cron: CronSchedule, from: number): number | undefined {
  if (!(from >= FIRST_SECOND)) return undefined;
  const last = Math.min(from, END_SECOND);
  const zone = zoneOf(cron.timezone, last);
  const runsAfter = cron.dst.gap === 'run-after';
  let index = zone.indexAt(last);
  let local = last + zone.offset(index);
  for (;;) {
    local = Math.min(local, end(cron, zone, index) - 1);
    const found = previousLocal(cron, local);
    if (found !== -Infinity) zone.knowFrom(found - zone.offset(index));
    if (found >= lowest(cron, zone, index)) return found === -Infinity ? undefined : found - zone.offset(index);
    if (!zone.hasPrevious(index)) return undefined;
    if (runsAfter && isInGapBefore(found, zone, index) && runsAfterGap(cron, zone, index)) return zone.start(index);
    const previous = index - 1;
    const canJump = zone.localEnd(previous) - 1 <= local;
    if (canJump && found === -Infinity) return undefined;
    const target = found + MARGIN_SECONDS;
    index = canJump && target < zone.start(previous) ? zone.indexAt(target) : previous;
    local = zone.localEnd(index) - 1;
  }
}
