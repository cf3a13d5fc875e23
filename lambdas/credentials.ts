/**
 * Stands in the bundles in the place of the SDK's search for credentials, which knows files, web identities, SSO and containers:
 * Lambda hands a Node function those of its role in these three variables, and makes a new process when they end.
 */
export function defaultProvider() {
  return async () => {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = process.env;
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      throw new Error(
        'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: this code runs in Lambda, which sets them',
      );
    }
    const sessionToken = process.env['AWS_SESSION_TOKEN'];
    return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  };
}
