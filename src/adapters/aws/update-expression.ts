import type { Attributes } from './attributes';

/** The parts of an UpdateItem that turns `seen` into `wanted`, of just what differs, if the row still has the revision that was seen. */
export function updateOf(wanted: Attributes, seen: Attributes, keyNames: readonly string[], seenRevision: number) {
  const names: Record<string, string> = { '#revision': 'revision' };
  const values: Attributes = { ':seen': seenRevision };
  const set: string[] = [];
  const remove: string[] = [];
  const changed = (name: string) => JSON.stringify(wanted[name]) !== JSON.stringify(seen[name]);
  const fields = [...new Set([...Object.keys(wanted), ...Object.keys(seen)])];
  // every name by its alias: `state`, `name`, `schedule` and many more are reserved words
  for (const [index, name] of fields.filter((field) => !keyNames.includes(field) && changed(field)).entries()) {
    names[`#f${index}`] = name;
    if (wanted[name] === undefined) {
      remove.push(`#f${index}`);
    } else {
      set.push(`#f${index} = :f${index}`);
      values[`:f${index}`] = wanted[name];
    }
  }
  return {
    UpdateExpression: [
      ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
      ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: '#revision = :seen',
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}
