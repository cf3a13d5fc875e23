// Says that it was called and how late, then does what its payload asks for. A token is there where it completes by callback.
module.exports = async function soakJob({ runId, attempt, dueAt, token, payload }) {
  const { lastsMs = 0, fails = 0 } = payload ?? {};
  console.log(`called ${runId} ${attempt} ${Date.now() - Date.parse(dueAt)} ${token ?? ''}`);
  if (lastsMs > 0) await new Promise((resolve) => setTimeout(resolve, lastsMs));
  if (attempt <= fails) throw new Error(`attempt ${attempt} fails on purpose`);
  return { attempt };
};
