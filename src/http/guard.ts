import type { MiddlewareHandler } from 'hono';
import { Problem } from './problem';

const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

/**
 * For a server that asks nobody who he is: a web page from elsewhere, open in the same person's browser, must not be able
 * to drive it. The Host keeps out names that resolve to this machine only now (DNS rebinding); Origin and Sec-Fetch-Site
 * keep out pages of other servers, also where they only fetch.
 */
export function loopbackOnly(): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header('host') ?? new URL(c.req.url).host;
    if (!LOOPBACK.test(host)) {
      throw new Problem(403, `This server answers on this machine only, as 127.0.0.1 or localhost; not as ${host}.`);
    }
    const origin = c.req.header('origin');
    const isForeign = origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`;
    const site = c.req.header('sec-fetch-site') ?? 'none';
    if (isForeign || (site !== 'none' && site !== 'same-origin')) {
      throw new Problem(403, `Pages of other servers may not use this one (origin ${origin ?? 'unknown'}).`);
    }
    await next();
  };
}
