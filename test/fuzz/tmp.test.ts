import { readFileSync } from 'node:fs';
import { answerCommands } from '../../lambdas/commands';
import { sqsEvent } from '../lambdas/recorded-events';
import { StandingWorld } from './standing-world';
test('x', async () => {
  const batches = JSON.parse(readFileSync('/tmp/rf-last.json', 'utf8')) as string[][];
  const world = await StandingWorld.open();
  const { ports, world: w } = world.client;
  const name = batches[0]!.join('').includes('"job"') ? 'job-create' : 'notify-create';
  for (const [b, texts] of batches.entries()) {
    process.stdout.write(`batch ${b} ${name}\n`);
    if (process.env['ONE'])
      for (const t of texts) {
        process.stdout.write(t.slice(0, 1500) + '\n');
        await w.untilOver(answerCommands(name, sqsEvent(t), ports));
      }
    else await w.untilOver(answerCommands(name, sqsEvent(...texts), ports));
  }
  process.stdout.write(`run\n`);
  await world.run(65_000);
  process.stdout.write(`ran\n`);
}, 100000);
