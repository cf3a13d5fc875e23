export default async function stopEmulators() {
  await globalThis.stopEmulators();
}
