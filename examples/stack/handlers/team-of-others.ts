/** A function that is nobody's job: its name matches none of the patterns that the deployment may call. */
export async function handler() {
  return 'never called by Escapement';
}
