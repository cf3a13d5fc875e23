/** Prints the news of a run in one line of its log. */
export async function handler({ id, type, source }: { id: string; type: string; source: string }) {
  console.log(`news ${type} of ${source}, id ${id}`);
}
