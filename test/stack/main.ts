/** Deploys the synthesised stack to an emulator of AWS, drives it from outside, and takes it away again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cdk } from './cdk';
import { OF_THE_CONSTRUCT, ONCE_DELETED, WHILE_BUSY, WHILE_DEPLOYED, WHILE_IDLE, type Check } from './checks';
import { Cloud } from './cloud';
import { FOLDER, installEmulator, MissingError, startEmulator, VERSION, type Emulator } from './emulator';
import { OF_LOOPS, OF_MESSAGES, whileDeployed } from './faults';
import { lookAtWorkarounds } from './workarounds';

/** What this machine lacks is told from a stack that is wrong. */
const MISSING = 3;
const STACK = ['-c', 'stage=dev'];
/** An app that holds Escapement and its jobs by the construct. */
const CONSTRUCT = ['--app', 'npx tsx examples/stack/construct-app.ts', '--output', 'cdk.out/construct'];
const EXAMPLES = ['--app', 'npx tsx examples/stack/app.ts', '--output', 'cdk.out/examples'];
/** What the deployments left behind: nothing has to be synthesised anew to take a stack away. */
const DEPLOYED = ['cdk.out', 'cdk.out/construct', 'cdk.out/examples'];

const startedAt = Date.now();
const results: { title: string; seconds: number; error?: string }[] = [];
let emulator: Emulator | undefined;

function say(line: string): void {
  console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s  ${line}`);
}

async function step<Done>(what: string, work: () => Promise<Done>): Promise<Done> {
  say(what);
  return work();
}

async function check({ title, run }: Check, cloud: Cloud): Promise<void> {
  const from = Date.now();
  let error: string | undefined;
  try {
    await run(cloud);
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  results.push({ title, seconds: Math.round((Date.now() - from) / 1000), ...(error === undefined ? {} : { error }) });
  say(`${error === undefined ? 'ok     ' : 'FAILED '} ${title}${error === undefined ? '' : `\n        ${error}`}`);
}

async function beside(checks: readonly Check[], cloud: Cloud): Promise<void> {
  await Promise.all(checks.map((one) => check(one, cloud)));
}

async function main(): Promise<void> {
  const program = await step(`ministack ${VERSION} in a virtual environment`, async () => installEmulator());
  emulator = await step('the emulator starts', () => startEmulator(program));
  const { url } = emulator;
  writeFileSync(join(FOLDER, 'cdk.log'), '');
  await step('cdk bootstrap', () => cdk(url, 'bootstrap', 'aws://000000000000/us-east-1'));
  const deploy = (...args: string[]) => cdk(url, 'deploy', '--require-approval', 'never', ...args);
  const deployStack = (tickSeconds: number) => deploy(...STACK, '-c', `tickSeconds=${tickSeconds}`);
  const [outputs, outputsOfApp] = await step(
    'cdk deploy of the stack, of an app that uses the construct, of the examples',
    () => Promise.all([deployStack(10), deploy(...CONSTRUCT), deploy(...EXAMPLES)]),
  );
  const cloud = new Cloud(url, 'Escapement-dev', outputs);
  const app = new Cloud(url, 'EscapementInAnApp', outputsOfApp);
  for (const line of await lookAtWorkarounds(cloud)) say(line);

  const ofTheStack = async () => {
    await beside(WHILE_IDLE, cloud);
    await beside(WHILE_BUSY, cloud);
    await beside([...WHILE_DEPLOYED, whileDeployed(() => deployStack(5))], cloud);
    await beside(ONCE_DELETED, cloud);
  };
  const ofTheLoops = async () => {
    for (const one of OF_LOOPS) await check(one, app);
  };
  // What is done to one of the two systems does not reach the other.
  await Promise.all([ofTheStack(), beside([...OF_THE_CONSTRUCT, ...OF_MESSAGES], app), ofTheLoops()]);

  await check(
    {
      title: 'cdk destroy takes the stacks away',
      run: async () => {
        await Promise.all(DEPLOYED.map((assembly) => cdk(url, 'destroy', '--force', '--all', '--app', assembly)));
      },
    },
    cloud,
  );
}

async function end(code: number): Promise<never> {
  await emulator?.stop();
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130));

main()
  .then(
    () => 0,
    (error: unknown) => {
      say(error instanceof MissingError ? error.message : `stopped: ${(error as Error).message}`);
      if (!(error instanceof MissingError))
        results.push({ title: 'the test itself', seconds: 0, error: String(error) });
      return error instanceof MissingError ? MISSING : 1;
    },
  )
  .then((code) => {
    const failed = results.filter(({ error }) => error !== undefined);
    for (const { title, seconds, error } of results)
      console.log(`${error === undefined ? '✓' : '✗'} ${title} (${seconds} s)`);
    console.log(`in ${Math.round((Date.now() - startedAt) / 1000)} s`);
    if (code !== MISSING) console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
    return end(code === 0 && failed.length > 0 ? 1 : code);
  })
  .catch(() => process.exit(1));
