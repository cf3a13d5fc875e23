/**
 * DynamoDB and SQS for the whole jest run, on loopback and on ports that were free. Started here, outside jest's module system, since
 * fauxqs is ESM. Costs about 0.3 s a run; tests get the addresses by the environment, see `emulated-aws.ts`.
 */
import dynalite from 'dynalite';
import { buildApp } from 'fauxqs';

/** fauxqs 1.9.2 takes no character beyond U+FFFF, an emoji for one; SQS takes all up to U+10FFFF, as its own error message should say. */
const { INVALID_MESSAGE_BODY_CHAR } = await import(new URL('sqs/sqsTypes.js', import.meta.resolve('fauxqs')).href);
INVALID_MESSAGE_BODY_CHAR.test = (body) => /[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(body);

const LOOPBACK = { host: '127.0.0.1', port: 0 };

export default async function startEmulators() {
  const dynamo = dynalite({ createTableMs: 0, deleteTableMs: 0 });
  await new Promise((resolve) => dynamo.listen(LOOPBACK, resolve));
  const sqs = buildApp({ logger: false });

  process.env.EMULATED_DYNAMODB_URL = `http://127.0.0.1:${dynamo.address().port}`;
  process.env.EMULATED_SQS_URL = await sqs.listen(LOOPBACK);
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

  globalThis.stopEmulators = async () => {
    dynamo.closeAllConnections();
    sqs.server.closeAllConnections();
    await Promise.all([new Promise((resolve) => dynamo.close(resolve)), sqs.close()]);
  };
}
