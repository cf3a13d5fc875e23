// What a chain or batch calls when it is over: says which one, and why.
module.exports = async function soakCallback({ payload: { chainId, batchId, reason } }) {
  console.log(`callback ${chainId ?? batchId} ${reason}`);
};
