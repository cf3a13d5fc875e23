import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * lmdb ends the process by a signal when it meets a page that is not there or not what it should be. So the file is looked
 * at before lmdb is let at it: every page that can be reached must lie within it, and say of itself what its place says.
 *
 * The layout is that of lmdb 3.5.6 (`MDB_page_header`, `MDB_meta`, `MDB_node`, `MDB_db`, `MDB_ovpage` in its `mdb.c`), in bytes.
 */
const HEADER = { pageNumber: 0, flags: 18, lower: 20, upper: 22, bytes: 24 };
const META = {
  magic: 24,
  version: 28,
  pageBytes: 48,
  freeRoot: 88,
  mainRoot: 136,
  lastPage: 144,
  commit: 152,
  bytes: 168,
};
const NODE = { flags: 4, keyBytes: 6, bytes: 8 };
const TABLE_ROOT = 40;
const OVERFLOW_PAGES = 16;
const MAGIC = 0xbeefc0de;
const VERSION = 2;
const BRANCH_PAGE = 1;
const LEAF_PAGE = 2;
const OVERFLOW_PAGE = 4;
const KINDS_OF_PAGE = 0xf;
const OVERFLOW_NODE = 1;
const TABLE_NODE = 2;
const NO_PAGE = 2n ** 64n - 1n;

/**
 * So many pages are looked at, those near the roots first: 40 MB, in 50 ms where they are in memory. What is damaged below them in a larger
 * store is met when it is read.
 */
const MOST_PAGES = 10_000;

interface OpenFile {
  descriptor: number;
  bytes: number;
  pageBytes: number;
}

class Damage extends Error {}

/**
 * Looks at the file of a store that nobody has open.
 * @returns what is wrong, for the end of a sentence; undefined when nothing was found
 * @throws what the file system says when it cannot be read
 */
export function findDamage(path: string): string | undefined {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = fstatSync(descriptor).size;
    if (bytes === 0) return 'it is empty';
    const first = readMeta(descriptor, 0);
    const file: OpenFile = { descriptor, bytes, pageBytes: first.pageBytes };
    // Commits take turns on the first two pages: the later one counts.
    const second = readMeta(descriptor, first.pageBytes);
    lookThrough(file, first.commit > second.commit ? first : second);
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    // Something in a page points out of it.
    if (error instanceof RangeError) return 'one of its pages is overwritten';
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

interface Meta {
  commit: bigint;
  pageBytes: number;
  roots: bigint[];
  lastPage: bigint;
}

function readMeta(descriptor: number, position: number): Meta {
  const meta = Buffer.alloc(META.bytes);
  if (readSync(descriptor, meta, 0, META.bytes, position) < META.bytes) throw new Damage('it is cut off');
  const number = (field: number) => meta.readBigUInt64LE(field);
  const pageBytes = meta.readUInt32LE(META.pageBytes);
  const isMeta = meta.readUInt32LE(META.magic) === MAGIC && (meta.readUInt32LE(META.version) & 0xffff) === VERSION;
  if (!isMeta || pageBytes < 512 || pageBytes > 65_536) throw new Damage('it does not begin as a store does');
  const roots = [number(META.freeRoot), number(META.mainRoot)].filter((root) => root !== NO_PAGE);
  return { commit: number(META.commit), pageBytes, roots, lastPage: number(META.lastPage) };
}

function lookThrough(file: OpenFile, { roots, lastPage }: Meta): void {
  const pages = [...roots];
  const page = Buffer.alloc(file.pageBytes);
  for (let looked = 0; looked < pages.length && looked < MOST_PAGES; looked += 1) {
    // A page has one place only, so that whoever finds more than there are goes round in circles.
    if (pages[looked]! > lastPage || looked > lastPage) throw new Damage(`page ${pages[looked]} is out of place`);
    pages.push(...pagesBelow(file, pages[looked]!, page));
  }
}

/** @throws Damage; RangeError when something in it points out of it */
function pagesBelow(file: OpenFile, number: bigint, page: Buffer): bigint[] {
  readPage(file, number, page);
  const kind = page.readUInt16LE(HEADER.flags) & KINDS_OF_PAGE;
  const [lower, upper] = [page.readUInt16LE(HEADER.lower), page.readUInt16LE(HEADER.upper)];
  if ((kind !== BRANCH_PAGE && kind !== LEAF_PAGE) || lower > upper) throw new Damage(`page ${number} is overwritten`);
  const below: bigint[] = [];
  for (let entry = HEADER.bytes; entry < HEADER.bytes + lower; entry += 2) {
    const node = HEADER.bytes + page.readUInt16LE(entry);
    const low = page.readUInt32LE(node);
    const flags = page.readUInt16LE(node + NODE.flags);
    const data = node + NODE.bytes + page.readUInt16LE(node + NODE.keyBytes);
    if (kind === BRANCH_PAGE) {
      below.push(BigInt(low) + (BigInt(flags) << 32n));
    } else if (flags & OVERFLOW_NODE) {
      checkOverflow(file, page.readBigUInt64LE(data), page.readBigUInt64LE(data + OVERFLOW_PAGES));
    } else if (data + low > page.length) {
      throw new Damage(`page ${number} is overwritten`);
    } else if (flags & TABLE_NODE) {
      const root = page.readBigUInt64LE(data + TABLE_ROOT);
      if (root !== NO_PAGE) below.push(root);
    }
  }
  return below;
}

function checkOverflow(file: OpenFile, number: bigint, pages: bigint): void {
  const header = Buffer.alloc(HEADER.bytes);
  readPage(file, number, header);
  if ((header.readUInt16LE(HEADER.flags) & KINDS_OF_PAGE) !== OVERFLOW_PAGE)
    throw new Damage(`page ${number} is overwritten`);
  if ((number + pages) * BigInt(file.pageBytes) > file.bytes) throw new Damage('it is cut off');
}

function readPage(file: OpenFile, number: bigint, page: Buffer): void {
  const position = number * BigInt(file.pageBytes);
  if (position + BigInt(file.pageBytes) > file.bytes) throw new Damage('it is cut off');
  readSync(file.descriptor, page, 0, page.length, position);
  if (page.readBigUInt64LE(HEADER.pageNumber) !== number) throw new Damage(`page ${number} is overwritten`);
}
