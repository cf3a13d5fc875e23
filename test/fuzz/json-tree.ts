/** JSON as it is written: what JSON.parse loses (names that come twice, 1e400, -0, half characters) can stand in it. */
export type Tree =
  /** text of a value without parts */
  | { kind: 'word'; text: string }
  | { kind: 'list'; items: readonly Tree[] }
  /** names are JSON text, quotes included */
  | { kind: 'object'; members: readonly (readonly [name: string, value: Tree])[] };

export const word = (text: string): Tree => ({ kind: 'word', text });

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(treeOf) };
  if (typeof value !== 'object' || value === null) return word(JSON.stringify(value));
  return {
    kind: 'object',
    members: Object.entries(value).map(([name, member]) => [JSON.stringify(name), treeOf(member)]),
  };
}

export function textOf(tree: Tree): string {
  switch (tree.kind) {
    case 'word':
      return tree.text;
    case 'list':
      return `[${tree.items.map(textOf).join(',')}]`;
    case 'object':
      return `{${tree.members.map(([name, value]) => `${name}:${textOf(value)}`).join(',')}}`;
  }
}

/** The text of a member as JSON.parse finds it, without the blanks around it: of members of one name the last one counts. */
export function memberText(tree: Tree, name: string): string | undefined {
  if (tree.kind !== 'object') return undefined;
  const value = tree.members.findLast(([text]) => JSON.parse(text) === name)?.[1];
  return value && textOf(value).trim();
}

/** How many values stand in it, itself included. */
export function sizeOf(tree: Tree): number {
  return partsOf(tree).reduce((size, part) => size + sizeOf(part), 1);
}

/** The value at this place, counted from 0 in the order in which values begin. */
export function treeAt(tree: Tree, place: number): Tree {
  let at = place;
  const found = (part: Tree): Tree | undefined => {
    if (at-- === 0) return part;
    for (const inner of partsOf(part)) {
      const here = found(inner);
      if (here) return here;
    }
    return undefined;
  };
  return found(tree)!;
}

/** The tree with another value at this place; undefined takes the item or the member away. */
export function withTreeAt(tree: Tree, place: number, change: (tree: Tree) => Tree | undefined): Tree {
  let at = place;
  const changed = (part: Tree): Tree | undefined => {
    if (at-- === 0) return change(part);
    if (part.kind === 'list') {
      return { kind: 'list', items: part.items.flatMap((item) => changed(item) ?? []) };
    }
    if (part.kind === 'object') {
      const members = part.members.flatMap(([name, value]) => {
        const member = changed(value);
        return member ? [[name, member] as const] : [];
      });
      return { kind: 'object', members };
    }
    return part;
  };
  return changed(tree) ?? word('null');
}

function partsOf(tree: Tree): readonly Tree[] {
  if (tree.kind === 'list') return tree.items;
  return tree.kind === 'object' ? tree.members.map(([, value]) => value) : [];
}
