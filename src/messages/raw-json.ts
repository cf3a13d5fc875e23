/**
 * JSON by its source text. JSON.parse loses digits of big numbers and the sign of -0, so what belongs to a caller is cut
 * out of the text and put into the next one as it stands. Nothing here recurses: the depth of what comes in is not ours.
 */

/** JSON text that goes out as it is. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** As JSON.stringify, for plain values of our own making in which a RawJson may stand anywhere. */
export function stringify(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => stringify(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${stringify(member)}`).join(',')}}`;
}

/**
 * The source text of the value at `path`, such as `['jobs', 3, 'payload']`, or undefined where there is none. Of members
 * of the same name the last one counts, as for JSON.parse. `text` must be one that JSON.parse accepts.
 */
export function rawAt(text: string, path: readonly (string | number)[]): string | undefined {
  let at: number | undefined = afterSpace(text, 0);
  for (const step of path) {
    at = typeof step === 'string' ? memberAt(text, at, step) : itemAt(text, at, step);
    if (at === undefined) return undefined;
  }
  return text.slice(at, afterValue(text, at));
}

/** The source text of each item of an array, or undefined where it is none. `text` must be one that JSON.parse accepts. */
export function rawItems(text: string): string[] | undefined {
  let at = afterSpace(text, 0);
  if (text[at] !== '[') return undefined;
  const items: string[] = [];
  at = afterSpace(text, at + 1);
  while (at < text.length && text[at] !== ']') {
    const end = afterValue(text, at);
    items.push(text.slice(at, end));
    at = afterSeparator(text, end);
  }
  return items;
}

/** How many objects and arrays stand inside one another, at most. `text` must be one that JSON.parse accepts. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = afterString(text, at) - 1;
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth--;
  }
  return deepest;
}

/** Does a string in it hold half of a surrogate pair, as it is or escaped? `text` must be one that JSON.parse accepts. */
export function hasLoneSurrogate(text: string): boolean {
  if (!text.isWellFormed()) return true;
  let waitsAt = -1;
  for (const { 0: escape, index } of text.matchAll(/\\(?:u[0-9a-fA-F]{4}|.)/g)) {
    const code = escape.length === 6 ? parseInt(escape.slice(2), 16) : 0;
    const isLow = code >= 0xdc00 && code <= 0xdfff;
    if (waitsAt >= 0 && (!isLow || index !== waitsAt)) return true;
    if (isLow && waitsAt < 0) return true;
    waitsAt = code >= 0xd800 && code <= 0xdbff ? index + escape.length : -1;
  }
  return waitsAt >= 0;
}

function memberAt(text: string, objectAt: number, name: string): number | undefined {
  if (text[objectAt] !== '{') return undefined;
  let found: number | undefined;
  let at = afterSpace(text, objectAt + 1);
  while (text[at] === '"') {
    const keyEnd = afterString(text, at);
    const valueAt = afterSpace(text, afterSpace(text, keyEnd) + 1);
    if (JSON.parse(text.slice(at, keyEnd)) === name) found = valueAt;
    at = afterSeparator(text, afterValue(text, valueAt));
  }
  return found;
}

function itemAt(text: string, arrayAt: number, index: number): number | undefined {
  if (text[arrayAt] !== '[') return undefined;
  let at = afterSpace(text, arrayAt + 1);
  for (let passed = 0; passed < index && at < text.length; passed++) at = afterSeparator(text, afterValue(text, at));
  return at < text.length && text[at] !== ']' ? at : undefined;
}

/** Of the comma to the next member or item, or of the bracket that ends them: no value begins there. */
function afterSeparator(text: string, valueEnd: number): number {
  const at = afterSpace(text, valueEnd);
  return text[at] === ',' ? afterSpace(text, at + 1) : text.length;
}

function afterValue(text: string, valueAt: number): number {
  let depth = 0;
  for (let at = valueAt; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') {
      at = afterString(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (character === '{' || character === '[') {
      depth++;
    } else if (character === '}' || character === ']') {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (character === ',' || isSpace(character))) {
      return at;
    }
  }
  return text.length;
}

function afterString(text: string, quoteAt: number): number {
  for (let at = quoteAt + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text[at]!)) at++;
  return at;
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r';
}
