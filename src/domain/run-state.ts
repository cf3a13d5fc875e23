export const RUN_STATES = ['SCHEDULED', 'STARTED', 'RELEASED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED'] as const;
export type RunState = (typeof RUN_STATES)[number];
