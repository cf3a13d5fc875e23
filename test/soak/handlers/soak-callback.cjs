// What a chain or batch calls when it is over: says that it was called, by which one, and why.
module.exports = async function soakCallback({ runId, attempt, dueAt, payload: { chainId, batchId, reason } }) {
  console.log(`called ${runId} ${attempt} ${Date.now() - Date.parse(dueAt)} `);
  console.log(`callback ${chainId ?? batchId} ${reason}`);
};
