import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ALIASES, BUNDLING, entryOf, ROOT } from '../../lib/bundling';

export interface Bundle {
  handler: string;
  code: Uint8Array;
  /** what went into it, by path from the root, such as `node_modules/zod/v4/core/schemas.js`; with `../` where the packages are elsewhere */
  inputs: readonly string[];
}

/** What a bundle may weigh at most, in KB of 1,000 bytes: the two that are called most start the fastest. */
export function LIMITS_KB(handler: string): number {
  return handler === 'scheduler' || handler === 'runner' ? 480 : 650;
}

export const HANDLERS = readdirSync(join(ROOT, 'lambdas'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Every function's code, made as for the deployment. */
export function bundles(): Promise<Bundle[]> {
  return Promise.all(
    HANDLERS.map(async (handler) => {
      const { outputFiles, metafile } = await build({
        ...BUNDLING,
        alias: ALIASES,
        entryPoints: [entryOf(handler)],
        absWorkingDir: ROOT,
        bundle: true,
        platform: 'node',
        write: false,
        metafile: true,
        outfile: 'index.js',
        logLevel: 'error',
      });
      const inputs = Object.values(metafile.outputs).flatMap((output) =>
        Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
      );
      return { handler, code: outputFiles[0]!.contents, inputs };
    }),
  );
}
