import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const EXTENSIONS = ['.ts', '.js', '.mjs', '.cjs'];
/** A Lambda function name and one dot: tests, declarations and dot files in the folder are no handlers. */
const HANDLER_FILE = /^([A-Za-z0-9_-]{1,64})(\.(?:ts|js|mjs|cjs))$/;

/** No file, or more than one, stands for this function name; the message names the folder and the files. */
export class HandlerNotFoundError extends Error {
  override readonly name = 'HandlerNotFoundError';
}

/** The folder of handlers cannot be read. */
export class HandlersFolderError extends Error {
  override readonly name = 'HandlersFolderError';

  constructor(directory: string, cause: unknown) {
    super(
      `The handlers folder ${directory} ${whatIsWrong(cause as NodeJS.ErrnoException)}. ` +
        'Give the folder that your handlers lie in, one file a function (--handlers DIR).',
      { cause },
    );
  }
}

function whatIsWrong({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'does not exist';
  return code === 'ENOTDIR' ? 'is a file' : `cannot be read: ${message}`;
}

/**
 * Function names of the folder, sorted.
 * @throws HandlersFolderError when it cannot be read
 */
export function handlerNames(directory: string): string[] {
  const names = filesIn(directory).flatMap((file) => HANDLER_FILE.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (cause) {
    throw new HandlersFolderError(directory, cause);
  }
}

/** The path of the one file that is this function. Matches whole names as listed, so no name leads out of the folder. */
export function findHandlerFile(directory: string, functionName: string): string {
  const files = filesOf(directory, functionName);
  const [file] = files;
  if (file === undefined) {
    const looked = EXTENSIONS.map((extension) => functionName + extension).join(', ');
    throw new HandlerNotFoundError(`no handler for function "${functionName}" in ${directory}: looked for ${looked}`);
  }
  if (files.length > 1) {
    throw new HandlerNotFoundError(
      `function "${functionName}" has ${files.length} handlers in ${directory}: keep one of ${files.join(', ')}`,
    );
  }
  return join(directory, file);
}

function filesOf(directory: string, functionName: string): string[] {
  try {
    return filesIn(directory).filter((file) => HANDLER_FILE.exec(file)?.[1] === functionName);
  } catch (cause) {
    throw new HandlerNotFoundError((cause as Error).message, { cause });
  }
}
