/** How large each function's code is, and how long it takes to load: npm run bench:bundle. `test/lambdas/bundles.test.ts` holds the limits. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundles, LIMITS_KB } from '../test/support/bundles';

/** Fresh processes for each; the median is shown. */
const LOADS = 7;

/** CPU of a process that loads this file and nothing else, in ms; the handler's complaint about its environment comes after all is loaded. */
function loadMs(file: string): number {
  const code = `
    const before = process.cpuUsage();
    try { require(${JSON.stringify(file)}); } catch (error) { if (!/environment/.test(error.message)) throw error; }
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', env: {} });
  const ms = Number(stdout);
  if (!(ms > 0)) throw new Error(`${file} does not load: ${stderr}`);
  return ms;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-bundles-'));
  try {
    console.log('function               KB   limit  CPU ms to load (median of', LOADS, 'fresh processes)');
    for (const { handler, code } of await bundles()) {
      const file = join(folder, `${handler}.js`);
      writeFileSync(file, code);
      const ms = median(Array.from({ length: LOADS }, () => loadMs(file)));
      const kilobytes = (code.byteLength / 1000).toFixed(0);
      console.log(
        handler.padEnd(21),
        kilobytes.padStart(4),
        String(LIMITS_KB(handler)).padStart(7),
        ms.toFixed(0).padStart(6),
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

void main();
