import { join } from 'node:path';
import { openMetered } from './metered';
import { FEATURES } from './feature-costs';
async function main() {
  await ((await import(join(__dirname, 'emulators.mjs'))) as { default: () => Promise<void> }).default();
  for (const name of process.argv.slice(2)) {
    const m = await openMetered();
    m.deployed.functions.set('job-flaky', (event) => { if ((event as { attempt: number }).attempt === 1) throw new Error('not yet'); return 'done'; });
    m.deployed.functions.set('job-hopeless', () => { throw new Error('never'); });
    m.deployed.functions.set('notify-me', () => 'heard');
    try {
      const f = (FEATURES as any)[name];
      await f(m); m.begin(); m.deployed.calls.length = 0;
      const bill = await f(m);
      const c: Record<string, number> = {};
      for (const { handler, action, on } of m.deployed.calls) c[`${handler} ${action} ${on}`] = (c[`${handler} ${action} ${on}`] ?? 0) + 1;
      console.log(name, bill, c);
    } catch (e) { console.log(name, String((e as Error).message).slice(0, 600)); }
    await m.close();
  }
  await ((await import(join(__dirname, 'emulators-stop.mjs'))) as { default: () => Promise<void> }).default();
  process.exit(0);
}
void main();
