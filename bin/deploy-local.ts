#!/usr/bin/env node
/** Deploys the stack to an emulator of AWS on this machine. */
import { spawnSync } from 'node:child_process';
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
  cdk('deploy', '--require-approval', 'never', '-c', 'stage=dev', ...program.args);
  if (program.opts<{ withExamples?: boolean }>().withExamples) {
    const app = ['--app', 'npx tsx examples/stack/app.ts', '--output', 'cdk.out/examples'];
    cdk('deploy', '--require-approval', 'never', ...app);
  }
  console.log(
    `\nThe output ApiUrl names the API by its host. Where that host is not known, call it by its path:\n` +
      `  MiniStack   ${endpoint}/_aws/execute-api/<the first part of the host>/$default/jobs\n` +
      `  LocalStack  as the output says, or see docs/local-aws.md`,
  );
}

/** Does anything listen there? What it says does not matter. */
async function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint, { signal: AbortSignal.timeout(5_000) }).then(
    () => true,
    () => false,
  );
}

void main();
