import type { Cloud } from './cloud';

/**
 * The emulator's faults that these checks have to get around, each with a look at whether it is still there. Others are left as
 * they are, since nothing here depends on them: docs/local-aws.md lists them.
 */
export async function lookAtWorkarounds(cloud: Cloud): Promise<string[]> {
  // The API is called by a path of the emulator's own: the host that its output names is no host of this machine's resolver.
  const answersByName = await fetch(`${cloud.outputs['ApiUrl']}/health`, { signal: AbortSignal.timeout(5_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
  return answersByName ? ['no longer needed: the API answers by the name in its output'] : [];
}
