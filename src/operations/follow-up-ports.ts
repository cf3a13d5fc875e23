import type { Ports } from '../ports';

/** What a state of a run may lead to needs these: whoever writes one has them. */
export type FollowUpPorts = Pick<
  Ports,
  | 'clock'
  | 'ids'
  | 'jobs'
  | 'runs'
  | 'code'
  | 'control'
  | 'groups'
  | 'activations'
  | 'highActivations'
  | 'notify'
  | 'journal'
  | 'settings'
>;
