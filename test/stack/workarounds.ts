import type { Cloud } from './cloud';

/**
 * What the emulator gets wrong and these checks could trip over. Each is looked at first: where it is right now, a line says so.
 * Left as it is, since no check here depends on it: the tables' time to live is not set, mappings are served one batch at a time.
 */
export async function workAround(cloud: Cloud): Promise<string[]> {
  const lines: string[] = [];
  // An August 2026 snapshot dropped the dead-letter queues of the template.
  const attributes = await cloud.attributesOf(cloud.outputs['JobCreateQueueUrl']!);
  lines.push(
    attributes['RedrivePolicy'] === undefined
      ? 'the emulator dropped the redrive policy of job-create'
      : 'no workaround needed: queues have their dead-letter queues',
  );
  return lines;
}
