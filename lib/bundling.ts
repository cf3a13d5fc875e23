import { join } from 'node:path';

export const ROOT = join(__dirname, '..');

/** The folder of a handler below `lambdas/`, to its source. */
export function entryOf(handler: string): string {
  return join(ROOT, 'lambdas', handler, 'handler.ts');
}

/** How a handler is bundled, in the words that esbuild and the CDK share. No import of the CDK, so that the bench can read it. */
export const BUNDLING = {
  minify: true,
  // Development and the local emulators run Node 20, whatever Lambda runs.
  target: 'node20',
  // esbuild takes `main` before `module` for Node, which doubles the AWS clients.
  mainFields: ['module', 'main'],
};

/** A fifth of a bundle would be ways of finding credentials that no Lambda function has. */
export const ALIASES = {
  '@aws-sdk/credential-provider-node': join(ROOT, 'lambdas', 'credentials.ts'),
};
