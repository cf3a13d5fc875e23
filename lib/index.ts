/** For use in an app of your own: `new Escapement(this, 'Jobs', { … })`. */
export { Escapement, type EscapementProps } from './escapement';
export { EscapementStack, type EscapementStackProps } from './escapement-stack';
export type { Job, JobProps, Notification, NotificationProps } from './job-resources';
export { Schedule, type CronFields } from './schedule';
export type { EscapementSettings } from './settings';
