import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, 'corpus');

/** The inputs of a door that once broke something, each with a title that says what. */
export function kept<Input>(door: string): [title: string, input: Input][] {
  return readdirSync(FOLDER)
    .filter((file) => file.startsWith(`${door}-`))
    .map((file) => {
      const input = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Input & { broke: string };
      return [`${file}: ${input.broke}`, input];
    });
}
