type Expected =
  | 'a value'
  | 'a value or ]'
  | 'a name in double quotes'
  | 'a name in double quotes or }'
  | 'a colon'
  | ', or ]'
  | ', or }'
  | 'nothing more';

const TOKEN =
  /([[\]{},:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/**
 * What is wrong with a text that JSON.parse refuses, and where: its own messages leave the place out as often as not,
 * and change from one version of Node to the next.
 */
export function describeJsonFault(text: string): string {
  const { at, expected } = findFault(text);
  const before = text.slice(0, at).split('\n');
  const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
  const found = at < text.length ? JSON.stringify(String.fromCodePoint(text.codePointAt(at)!)) : 'the end';
  return `is not JSON: ${place} has ${found} where ${expected} must stand`;
}

function findFault(text: string): { at: number; expected: Expected } {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'a value';
  let at = 0;
  for (;;) {
    while (' \t\n\r'.includes(text[at] ?? 'end')) at++;
    TOKEN.lastIndex = at;
    const token: string | undefined = TOKEN.exec(text)?.[0];
    const next: Expected | undefined = token === undefined ? undefined : follow(token, expected, open);
    if (next === undefined) return { at, expected };
    expected = next;
    at += token!.length;
  }
}

/** What must stand after this token, or undefined when it must not stand here. Keeps `open` up to date. */
function follow(token: string, expected: Expected, open: ('{' | '[')[]): Expected | undefined {
  const afterValue = (): Expected => {
    const inside = open.at(-1);
    return inside === undefined ? 'nothing more' : inside === '{' ? ', or }' : ', or ]';
  };
  const close = () => (open.pop(), afterValue());
  switch (expected) {
    case 'a value or ]':
    case 'a value':
      if (token === ']' && expected === 'a value or ]') return close();
      if (token === '{') return (open.push('{'), 'a name in double quotes or }');
      if (token === '[') return (open.push('['), 'a value or ]');
      return ']},:'.includes(token) ? undefined : afterValue();
    case 'a name in double quotes or }':
    case 'a name in double quotes':
      if (token === '}' && expected === 'a name in double quotes or }') return close();
      return token.startsWith('"') ? 'a colon' : undefined;
    case 'a colon':
      return token === ':' ? 'a value' : undefined;
    case ', or ]':
      return token === ']' ? close() : token === ',' ? 'a value' : undefined;
    case ', or }':
      return token === '}' ? close() : token === ',' ? 'a name in double quotes' : undefined;
    case 'nothing more':
      return undefined;
  }
}
