import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { FOLDER, ROOT } from './emulator';

const LONGEST_COMMAND_MS = 240_000;

/** The environment of whoever uses the emulator in the place of AWS. */
export function emulatedEnvironment(url: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
}

/** Runs the CDK's own command; what it prints is added to `cdk.log` in the folder. Answers the outputs of the stack. */
export async function cdk(url: string, ...args: string[]): Promise<Record<string, string>> {
  const log = createWriteStream(join(FOLDER, 'cdk.log'), { flags: 'a' });
  const { AWS_PROFILE: _profile, AWS_SESSION_TOKEN: _token, ...surroundings } = process.env;
  const child = spawn(process.execPath, [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...args], {
    cwd: ROOT,
    env: { ...surroundings, ...emulatedEnvironment(url) },
    timeout: LONGEST_COMMAND_MS,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      log.write(chunk);
    });
  }
  const code = await new Promise((resolve) => child.once('close', resolve));
  log.end();
  if (code !== 0) throw new Error(`cdk ${args[0]} ended with ${String(code)}; see .stack-test/cdk.log`);
  return Object.fromEntries(
    [...printed.matchAll(/^[\w-]+\.(\w+) = (\S+)\s*$/gm)].map(([, name, value]) => [name!, value!]),
  );
}
