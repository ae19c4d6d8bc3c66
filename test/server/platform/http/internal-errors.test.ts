import { expect, it } from 'vitest';
import { buildTestApp, collectingLog, type LogLine, testRoute } from '../../../support/app.ts';

it('a defect of the service is a problem without its text, which the log has with the request id', async () => {
  const lines: LogLine[] = [];
  const cause = new TypeError('the key of ada is undefined');
  const broken = testRoute({
    method: 'GET',
    path: '/broken',
    security: 'public',
    handle: () => {
      throw cause;
    },
  });
  const app = await buildTestApp([broken], { log: collectingLog(lines) });
  const { statusCode, body, headers } = await app.inject({ url: '/broken' });
  await app.close();
  expect(statusCode).toBe(500);
  expect(body).not.toContain('ada');
  expect(JSON.parse(body)).toMatchObject({
    type: 'urn:problem-type:rtc:internal-error',
    detail: 'The service failed on this request; its log has the request id.',
  });
  const requestId = headers['x-request-id'];
  expect(lines).toContainEqual({
    level: 'error',
    message: 'request failed',
    fields: { requestId, code: 'internal-error', err: cause },
  });
});
