import type { Code, CodeStore } from '../ports';

const MOST_KEPT = 10_000;

/** The code table behind a cache. Mappings never change, so what was once read or written stays true. */
export function cachedCode(store: CodeStore): CodeStore {
  const known = new Map<string, Code>();
  const keep = (code: Code) => {
    if (known.size >= MOST_KEPT) known.clear();
    known.set(code.codeId, code);
  };
  return {
    async put(code) {
      if (known.has(code.codeId)) return;
      await store.put(code);
      keep(code);
    },
    async read(codeId) {
      const kept = known.get(codeId);
      if (kept) return kept;
      const code = await store.read(codeId);
      if (code) keep(code);
      return code;
    },
  };
}
