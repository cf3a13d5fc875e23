/** Events as AWS sends them, whole, as its developer guides print them; a test puts in what it is about. */
import type { APIGatewayProxyEventV2WithIAMAuthorizer, SQSEvent, SQSRecord } from 'aws-lambda';

/** From "Using Lambda with Amazon SQS". `messageId`s are m0, m1, … unless given with the body. */
export function sqsEvent(...messages: (string | (Partial<SQSRecord> & { body: string }))[]): SQSEvent {
  return {
    Records: messages.map((message, index) => ({
      messageId: `m${index}`,
      receiptHandle: `AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a${index}`,
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: '1545082649183',
        SenderId: 'AIDAIENQZJOLO23YVJ4VO',
        ApproximateFirstReceiveTimestamp: '1545082649185',
      },
      messageAttributes: {},
      md5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-west-1:111122223333:a-queue',
      awsRegion: 'eu-west-1',
      ...(typeof message === 'string' ? { body: message } : message),
    })),
  };
}

interface Request {
  method?: string;
  path: string;
  query?: string;
  headers?: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
}

/** From "Working with AWS Lambda proxy integrations for HTTP APIs", payload format 2.0, of a signed request. */
export function httpEvent({ method = 'GET', path, query = '', headers = {}, body, isBase64Encoded = false }: Request) {
  const event: APIGatewayProxyEventV2WithIAMAuthorizer = {
    version: '2.0',
    routeKey: 'ANY /{proxy+}',
    rawPath: path,
    rawQueryString: query,
    headers: {
      accept: '*/*',
      'content-length': String(body?.length ?? 0),
      host: 'a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com',
      'x-amz-date': '20270504T120000Z',
      'x-amzn-trace-id': 'Root=1-5e6722a7-cc56xmpl46db7ae02d4da47e',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      ...headers,
    },
    ...(query === '' ? {} : { queryStringParameters: Object.fromEntries(new URLSearchParams(query)) }),
    pathParameters: { proxy: path.slice(1) },
    requestContext: {
      accountId: '111122223333',
      apiId: 'a1b2c3d4e5',
      domainName: 'a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com',
      domainPrefix: 'a1b2c3d4e5',
      authorizer: {
        iam: {
          accessKey: 'ACCESSKEYEXAMPLE',
          accountId: '111122223333',
          callerId: 'CALLERIDEXAMPLE',
          cognitoIdentity: null,
          principalOrgId: 'o-exampleorgid',
          userArn: 'arn:aws:iam::111122223333:user/caller',
          userId: 'CALLERIDEXAMPLE',
        },
      },
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'curl/8.5.0' },
      requestId: 'JKJaXmPLvHcESHA=',
      routeKey: 'ANY /{proxy+}',
      stage: '$default',
      time: '04/May/2027:12:00:00 +0000',
      timeEpoch: 1809432000000,
    },
    ...(body === undefined ? {} : { body }),
    isBase64Encoded,
  };
  return event;
}
