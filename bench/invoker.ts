/** How many handlers a second, at what cost, and how long the first call takes. Run: npx tsx bench/invoker.ts [calls] */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalInvoker } from '../src/adapters/local/invoker';

const CALLS = Number(process.argv[2] ?? 20_000);
/** Linux counts the time of processes in hundredths of a second. */
const TICK_MS = 10;

const folder = mkdtempSync(join(tmpdir(), 'escapement-bench-'));
const event = JSON.stringify({
  jobId: '0190b6a1-0000-7000-8000-000000000000',
  runId: '20260101T000000000Z-0190b6a1-0000-7000-8000-000000000000',
  attempt: 1,
  nominalAt: '2026-01-01T00:00:00.000Z',
  dueAt: '2026-01-01T00:00:00.000Z',
  payload: null,
});

function write(name: string) {
  writeFileSync(join(folder, `${name}.ts`), 'export default async function noop(_event: unknown) {}\n');
}

async function call(invoker: LocalInvoker, name: string) {
  const functionArn = `arn:aws:lambda:eu-west-1:111122223333:function:${name}`;
  const outcome = await invoker.invoke({ functionArn, event, timeoutMs: 60_000 });
  if (outcome.kind !== 'returned') throw new Error(JSON.stringify(outcome));
}

function childrenCpuMs(): number | undefined {
  try {
    let ticks = 0;
    for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
      const fields = statOf(pid)?.split(') ')[1]?.split(' ') ?? [];
      if (Number(fields[1]) === process.pid) ticks += Number(fields[11]) + Number(fields[12]);
    }
    return ticks * TICK_MS;
  } catch {
    return undefined;
  }
}

function statOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // ended meanwhile
  }
}

async function cold(invoker: LocalInvoker) {
  const times: number[] = [];
  for (let index = 0; index < 8; index += 1) {
    write(`cold-${index}`);
    const begun = performance.now();
    await call(invoker, `cold-${index}`);
    times.push(performance.now() - begun);
  }
  const [first = NaN, ...others] = times;
  others.sort((a, b) => a - b);
  const median = others[others.length >> 1] ?? NaN;
  console.log(
    `cold start of a TypeScript handler: the very first ${first.toFixed(0)} ms, then median ${median.toFixed(0)} ms`,
  );
}

async function warm(invoker: LocalInvoker, concurrency: number) {
  const worker = async (calls: number) => {
    for (let index = 0; index < calls; index += 1) await call(invoker, 'noop');
  };
  const round = (calls: number) => Promise.all(Array.from({ length: concurrency }, () => worker(calls / concurrency)));
  await round(concurrency * 200);
  const [own, children, begun] = [process.cpuUsage(), childrenCpuMs(), performance.now()];
  await round(CALLS);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(own);
  const handlers = children === undefined ? NaN : ((childrenCpuMs() ?? NaN) - children) * 1000;
  console.log(
    `warm no-op, concurrency ${concurrency}: ${Math.round(CALLS / seconds)} calls/s, CPU a call: ` +
      `${((user + system) / CALLS).toFixed(0)} µs here + ${(handlers / CALLS).toFixed(0)} µs in the handlers' processes`,
  );
}

async function main() {
  const invoker = new LocalInvoker({ handlersDirectory: folder });
  try {
    write('noop');
    await cold(invoker);
    await warm(invoker, 1);
    await warm(invoker, 10);
  } finally {
    await invoker.close();
    rmSync(folder, { recursive: true });
  }
}

void main();
