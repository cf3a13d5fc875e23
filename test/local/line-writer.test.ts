import { LineWriter } from '../../src/local/line-writer';

test('the lines of one turn become one write, in order', async () => {
  const written: string[] = [];
  const writer = new LineWriter({ write: (text: string) => written.push(text) });
  writer.write('one');
  writer.write('two');
  expect(written).toEqual([]);
  await new Promise(setImmediate);
  writer.write('three');
  writer.flush();
  writer.flush();
  expect(written).toEqual(['one\ntwo\n', 'three\n']);
});
