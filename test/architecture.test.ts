import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const FOLDERS = ['bin', 'lib', 'lambdas', 'src'];
const FILES = ['.dependency-cruiser.js', 'tsconfig.json', 'package.json'];

interface Cruise {
  modules: { source: string }[];
  summary: { violations: { rule: { name: string }; from: string; to: string }[] };
}

/** Runs the rules over a tree. The tool exits with the number of errors, so its output is read either way. */
function cruise(root: string): Cruise {
  const tool = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [tool, '--config', '.dependency-cruiser.js', '--output-type', 'json', ...FOLDERS];
  const options = { cwd: root, encoding: 'utf8' as const, maxBuffer: 1 << 28 };
  try {
    return JSON.parse(execFileSync(process.execPath, args, options)) as Cruise;
  } catch (error) {
    return JSON.parse((error as { stdout: string }).stdout) as Cruise;
  }
}

const broken = ({ summary }: Cruise) =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);

describe('the arrows between the parts', () => {
  test('are kept, and the modules were really read', () => {
    const result = cruise(ROOT);
    expect(broken(result)).toEqual([]);
    const read = result.modules.map(({ source }) => source).filter((source) => /^(src|lib|lambdas|bin)\//.test(source));
    expect(read).toEqual(
      expect.arrayContaining([
        'src/ports.ts',
        'src/domain/run.ts',
        'src/operations/tick.ts',
        'lib/escapement-stack.ts',
      ]),
    );
    expect(read.length).toBeGreaterThan(60);
  });

  const offences: [rule: string, file: string, text: string][] = [
    ['domain-imports-domain', 'src/domain/offence.ts', "import '../ports';\nimport 'zod';\n"],
    ['operations-know-no-adapter', 'src/operations/offence.ts', "import '../adapters/local/database';\n"],
    ['command-line-knows-no-adapter', 'src/cli/offence.ts', "import '../adapters/local/database';\n"],
    ['aws-sdk-in-its-adapters-only', 'src/operations/offence.ts', "import '@aws-sdk/client-sqs';\n"],
    ['cdk-in-lib-and-bin-only', 'src/http/offence.ts', "import 'aws-cdk-lib';\n"],
    ['lib-sees-contracts-not-code', 'lib/offence.ts', "import '../src/operations/tick';\n"],
    ['adapters-do-not-mix', 'src/adapters/aws/offence.ts', "import '../local/database';\n"],
    ['no-cycles', 'src/domain/offence.ts', "import './offence-2';\n"],
  ];
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'escapement-arrows-'));
    for (const entry of [...FOLDERS, ...FILES]) cpSync(join(ROOT, entry), join(copy, entry), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const [, file] of offences) writeFileSync(join(copy, file), '');
    for (const file of new Set(offences.map(([, name]) => name))) {
      writeFileSync(join(copy, file), offences.flatMap(([, name, text]) => (name === file ? [text] : [])).join(''));
    }
    writeFileSync(join(copy, 'src/domain/offence-2.ts'), "import './offence';\n");
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test('are noticed when they are broken', () => {
    // Of a cycle the tool names one of the files.
    const found = new Set(
      cruise(copy).summary.violations.map(({ rule, from }) => `${rule.name}: ${from.replace('offence-2', 'offence')}`),
    );
    for (const [rule, file] of offences) expect(found).toContain(`${rule}: ${file}`);
  });
});
