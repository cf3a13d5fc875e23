import { isNewEnough } from './emulator';
import { signed } from './sign';

test.each([
  ['3.9', false],
  ['3.10', true],
  ['3.11', true],
  ['4.0', true],
  ['', false],
])('Python %s is new enough: %s', (version, enough) => {
  expect(isNewEnough(version)).toBe(enough);
});

test('a signature covers the method, the path, the query, the body and the instant', () => {
  const at = new Date('2027-05-04T12:00:00Z');
  const sign = (method: string, url: string, body: string, now = at) =>
    signed(method, new URL(url), body, now)['authorization'];
  const url = 'http://127.0.0.1:4566/jobs?limit=5&tag=a';
  const same = sign('GET', url, '');
  expect(sign('GET', 'http://127.0.0.1:4566/jobs?tag=a&limit=5', '')).toBe(same);
  const others = [
    sign('POST', url, ''),
    sign('GET', url.replace('5', '6'), ''),
    sign('GET', url.replace('jobs', 'runs'), ''),
    sign('GET', url, '{}'),
    sign('GET', url, '', new Date(at.getTime() + 1000)),
  ];
  expect(new Set([same, ...others]).size).toBe(6);
  expect(same).toMatch(/^AWS4-HMAC-SHA256 Credential=test\/20270504\/us-east-1\/execute-api\/aws4_request, /);
});
