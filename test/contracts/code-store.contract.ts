import type { Code, CodeStore } from '../../src/ports';
import { freshId, type Adapter } from './contract';

export type CodeStoreAdapter = Adapter & { store: CodeStore };

export function describeCodeStoreContract(name: string, makeAdapter: () => Promise<CodeStoreAdapter>): void {
  describe(`the code store contract, ${name}`, () => {
    let adapter: CodeStoreAdapter;
    beforeAll(async () => {
      adapter = await makeAdapter();
    });
    afterAll(() => adapter.close());

    const code = (kind: Code['kind']): Code => ({
      codeId: freshId('code'),
      kind,
      functionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:job-report:live',
    });

    test('a GUID without code is absent', async () => {
      expect(await adapter.store.read(freshId('code'))).toBeUndefined();
    });

    test.each(['job', 'notification'] as const)('code of kind %s comes back as it was written', async (kind) => {
      const written = code(kind);
      await adapter.store.put(written);
      expect(await adapter.store.read(written.codeId)).toEqual(written);
    });

    test('writing a mapping again, also many at once, changes nothing', async () => {
      const written = code('job');
      await Promise.all(Array.from({ length: 10 }, () => adapter.store.put(written)));
      expect(await adapter.store.read(written.codeId)).toEqual(written);
    });
  });
}
