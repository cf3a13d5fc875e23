import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { survives } from './http-rules';
import type { OddRequest } from './requests';

/** An input that once broke something; a body stands in latin1, so that any bytes can stand in JSON. */
interface Kept {
  broke: string;
  requests: (Omit<OddRequest, 'body'> & { body?: string })[];
}

const FOLDER = join(__dirname, 'corpus');
const kept = (door: string) =>
  readdirSync(FOLDER)
    .filter((file) => file.startsWith(`${door}-`))
    .map((file): [string, Kept] => {
      const one = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Kept;
      return [`${file}: ${one.broke}`, one];
    });

describe('what once broke is survived:', () => {
  test.each(kept('http'))('%s', async (_, { requests }) => {
    await survives(
      requests.map(({ body, ...request }) => ({
        ...request,
        body: body === undefined ? undefined : { bytes: Uint8Array.from(Buffer.from(body, 'latin1')) },
      })),
    );
  });
});
