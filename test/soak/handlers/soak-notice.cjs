// Says which news came: a CloudEvents id, the same for a repeat of the same news.
module.exports = async function soakNotice({ id }) {
  console.log(`notice ${id}`);
};
