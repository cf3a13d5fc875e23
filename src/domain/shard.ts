/**
 * Which of `shards` parts of a due index a job belongs to: 0 to `shards - 1`, the same for ever.
 * FNV-1a over the id's UTF-16 units (ids are ASCII), then a last mixing of the bits: taken modulo a power of two, plain FNV-1a
 * depends on the lowest bits of the characters only.
 */
export function shardOf(jobId: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < jobId.length; index += 1) {
    hash = Math.imul(hash ^ jobId.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash ^= hash >>> 13;
  return (hash >>> 0) % shards;
}
