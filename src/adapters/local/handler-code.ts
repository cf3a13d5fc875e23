import { statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, BuildOptions } from 'esbuild';

/** A handler as it stands on disk now. A new object means new code. */
export interface HandlerCode {
  file: string;
  /** CommonJS made from TypeScript, relative imports included; absent for JavaScript, which Node loads from the file itself */
  text?: string;
  /** the handler and the files that it imports by relative path */
  sources: readonly { path: string; mtimeMs: number; size: number }[];
}

/** The handler's source is wrong. `type` is what Lambda calls it. */
export class HandlerSourceError extends Error {
  override readonly name = 'HandlerSourceError';
  readonly type: string;

  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

export async function readHandler(file: string): Promise<HandlerCode> {
  return extname(file) === '.ts' ? readTypeScript(file) : readJavaScript(file);
}

/** One `stat` a file: some microseconds, so it is asked before every attempt. */
export function isUnchanged(code: HandlerCode): boolean {
  return code.sources.every(({ path, mtimeMs, size }) => {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.mtimeMs === mtimeMs && now.size === size;
  });
}

async function readTypeScript(file: string): Promise<HandlerCode> {
  try {
    const built = await bundle(file, {
      format: 'cjs',
      sourcemap: 'inline',
      sourcesContent: false,
      define: {
        'import.meta.url': JSON.stringify(pathToFileURL(file).href),
        'import.meta.filename': JSON.stringify(file),
        'import.meta.dirname': JSON.stringify(dirname(file)),
      },
    });
    return { file, text: built.text, sources: built.inputs.map(seen) };
  } catch (error) {
    if (isBuildFailure(error)) throw sourceError(file, error);
    throw error;
  }
}

/** Bundled only to learn what it imports; what is wrong with it Node says better. */
async function readJavaScript(file: string): Promise<HandlerCode> {
  const inputs = await bundle(file, { format: 'esm' }).then(
    (built) => built.inputs,
    () => [file],
  );
  return { file, sources: inputs.map(seen) };
}

async function bundle(file: string, options: BuildOptions): Promise<{ text: string; inputs: string[] }> {
  const { build } = await import('esbuild');
  const folder = dirname(file);
  const result = await build({
    entryPoints: [file],
    // Never written; tells esbuild where the source map's relative paths begin.
    outfile: `${file}.bundle`,
    write: false,
    bundle: true,
    metafile: true,
    platform: 'node',
    target: 'node20',
    packages: 'external',
    absWorkingDir: folder,
    logLevel: 'silent',
    ...options,
  });
  return {
    text: result.outputFiles?.[0]?.text ?? '',
    inputs: Object.keys(result.metafile?.inputs ?? {}).map((path) => resolve(folder, path)),
  };
}

function seen(path: string): HandlerCode['sources'][number] {
  const now = statSync(path, { throwIfNoEntry: false });
  return { path, mtimeMs: now?.mtimeMs ?? 0, size: now?.size ?? 0 };
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function sourceError(file: string, failure: BuildFailure): HandlerSourceError {
  const lines = failure.errors.map(({ text, location }) =>
    location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : `${file}: ${text}`,
  );
  const unresolved = failure.errors.some(({ text }) => text.startsWith('Could not resolve'));
  return new HandlerSourceError(
    unresolved ? 'Runtime.ImportModuleError' : 'Runtime.UserCodeSyntaxError',
    lines.join('\n'),
  );
}
