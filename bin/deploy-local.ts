#!/usr/bin/env node
/** Deploys the stack to an emulator of AWS on this machine. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';

const ROOT = join(__dirname, '..');
const DEFAULT_ENDPOINT = 'http://127.0.0.1:4566';
const LOCAL_ACCOUNT = '000000000000';

const program = new Command('deploy-local')
  .description(
    `Bootstraps an emulator of AWS (LocalStack, MiniStack or Floci) and deploys Escapement to it. AWS_ENDPOINT_URL says where it listens, ${DEFAULT_ENDPOINT} unless set; without credentials in the environment, test/test are used.`,
  )
  .option('--with-examples', 'also deploy the functions of examples/stack')
  .argument('[cdk options...]', 'given to cdk deploy, such as -- -c tickSeconds=5')
  .showHelpAfterError('(--help lists the options)')
  .parse();

async function main(): Promise<void> {
  const endpoint = process.env['AWS_ENDPOINT_URL'] ?? DEFAULT_ENDPOINT;
  if (!(await answers(endpoint))) {
    console.error(
      `Nothing answers at ${endpoint}: start the emulator first, or set AWS_ENDPOINT_URL to where it listens.`,
    );
    process.exit(1);
  }
  const env = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: process.env['AWS_REGION'] ?? 'us-east-1',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    ...process.env,
    AWS_ENDPOINT_URL: endpoint,
  };
  const cdk = (...args: string[]) => {
    const { status } = spawnSync(process.execPath, [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), ...args], {
      cwd: ROOT,
      env,
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
  };
  cdk('bootstrap', `aws://${LOCAL_ACCOUNT}/${env.AWS_REGION}`);
  const outputsFile = join(ROOT, 'cdk.out', 'local-outputs.json');
  cdk('deploy', '--require-approval', 'never', '-c', 'stage=dev', '--outputs-file', outputsFile, ...program.args);
  if (program.opts<{ withExamples?: boolean }>().withExamples) {
    const app = ['--app', 'npx tsx examples/stack/app.ts', '--output', 'cdk.out/examples'];
    cdk('deploy', '--require-approval', 'never', ...app);
  }
  const [outputs] = Object.values(JSON.parse(readFileSync(outputsFile, 'utf8')) as Record<string, { ApiUrl: string }>);
  console.log(`\nThe API: ${await reachableUrl(outputs!.ApiUrl, endpoint)}`);
}

/** MiniStack names the API by a host that not every resolver knows, and has it under a path as well. */
async function reachableUrl(apiUrl: string, endpoint: string): Promise<string> {
  const health = await fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
  if (!health?.ok) return apiUrl;
  return `${endpoint}/_aws/execute-api/${new URL(apiUrl).hostname.split('.')[0]}/$default`;
}

/** Does anything listen there? What it says does not matter. */
async function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint, { signal: AbortSignal.timeout(5_000) }).then(
    () => true,
    () => false,
  );
}

void main();
