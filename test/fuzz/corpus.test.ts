import { kept } from './corpus';
import { survives } from './http-rules';
import type { OddRequest } from './requests';

/** A body stands in latin1, so that any bytes can stand in JSON. */
interface Requests {
  requests: (Omit<OddRequest, 'body'> & { body?: string })[];
}

describe('what once broke is survived:', () => {
  test.each(kept<Requests>('http'))('%s', async (_, { requests }) => {
    await survives(
      requests.map(({ body, ...request }) => ({
        ...request,
        body: body === undefined ? undefined : { bytes: Uint8Array.from(Buffer.from(body, 'latin1')) },
      })),
    );
  });
});
