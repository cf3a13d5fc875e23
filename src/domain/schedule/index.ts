export * from './types';
export type { AtSchedule, CronSchedule, RateSchedule, Schedule } from './schedule';
export { LONGEST_EXPRESSION, parseSchedule, type ScheduleOptions } from './parse';
export { nextOccurrence, occurrencesBetween, previousOccurrence, type Grid } from './occurrence';
export { skippedBetween, type RepeatedOccurrence, type SkippedOccurrence } from './dst-changes';
export { describeSchedule } from './describe';
export { MOST_PREVIEWED, previewSchedule, type Preview, type PreviewRequest } from './preview';
export { checkTimezone } from './timezone-name';
export { toLocalText } from './zone';
