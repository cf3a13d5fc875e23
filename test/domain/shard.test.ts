import { shardOf } from '../../src/domain/shard';

test('a job keeps its shard for ever', () => {
  expect(['', 'a', 'job-1', '019c0000-0000-7000-8000-000000000001'].map((jobId) => shardOf(jobId, 4))).toEqual(
    ['', 'a', 'job-1', '019c0000-0000-7000-8000-000000000001'].map((jobId) => shardOf(jobId, 4)),
  );
});

test.each([1, 2, 3, 4, 8, 10, 16])('ids that differ little spread evenly over %i shards', (shards) => {
  const counts = new Array<number>(shards).fill(0);
  const idCount = 16_000;
  for (let index = 0; index < idCount; index += 1) {
    const shard = shardOf(`019c0000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`, shards);
    expect(Number.isInteger(shard)).toBe(true);
    counts[shard]! += 1;
  }
  expect(counts).toHaveLength(shards);
  for (const count of counts) expect(Math.abs(count / (idCount / shards) - 1)).toBeLessThan(0.2);
});
