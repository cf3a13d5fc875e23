import { shardOf } from '../../src/domain/shard';

test('a job keeps its shard for ever: what is written into indexes depends on it', () => {
  expect([shardOf('a', 1_000), shardOf('job-1', 1_000)]).toEqual([775, 627]);
  expect(shardOf('019c0000-0000-7000-8000-000000000001', 4)).toBe(0);
});

test.each([1, 2, 3, 4, 8, 10, 16])('ids that differ little spread evenly over %i shards', (shards) => {
  const counts = new Array<number>(shards).fill(0);
  const idCount = 16_000;
  for (let index = 0; index < idCount; index += 1) {
    counts[shardOf(`019c0000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`, shards)]! += 1;
  }
  expect(Object.keys(counts)).toHaveLength(shards);
  for (const count of counts) expect(Math.abs(count / (idCount / shards) - 1)).toBeLessThan(0.2);
});
