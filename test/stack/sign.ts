import { createHash, createHmac } from 'node:crypto';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * The headers that sign a request with Signature Version 4 (AWS General Reference, "Create a signed AWS API request"), for the
 * key pair test/test. `url` has no more than plain characters in its path.
 */
export function signed(method: string, url: URL, body: string, now: Date): Record<string, string> {
  const amzDate = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${amzDate.slice(0, 8)}/us-east-1/execute-api/aws4_request`;
  const query = [...url.searchParams]
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .sort()
    .join('&');
  const canonical = [
    method,
    url.pathname,
    query,
    `host:${url.host}`,
    `x-amz-date:${amzDate}`,
    '',
    'host;x-amz-date',
    sha256(body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', amzDate, scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((secret, word) => hmac(secret, word), 'AWS4test');
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  return {
    'x-amz-date': amzDate,
    authorization: `AWS4-HMAC-SHA256 Credential=test/${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  };
}
