import { afterEach, expect, it } from 'vitest';
import { RawConnection } from '../../../support/raw-http.ts';
import { holdable, startScriptedMediaServer } from '../../../support/scripted-media-server.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { signedGet } from '../../../support/sign.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function openTo(service: TestService): Promise<RawConnection> {
  const connection = await RawConnection.open(service.url);
  cleanUps.push(() => connection.close());
  return connection;
}

/** Returns the log lines of the requests, without the request in which the caller reads the OpenAPI document. */
const loggedRequests = (service: TestService) =>
  service.logLines
    .filter(({ message, fields }) => message.startsWith('request ') && fields.route !== '/openapi.json')
    .map(({ message, fields }) => [message, fields.route, fields.status]);

it('a request whose caller disconnects before the response is logged and counted as 499', async () => {
  const holding = holdable();
  const mediaServer = await startScriptedMediaServer(holding.script);
  const service = await startTestService({ livekit: mediaServer.livekit });
  cleanUps.push(() => mediaServer.close(), service.close);
  const connection = await openTo(service);
  holding.hold();
  connection.send(signedGet(service, '/v1/rooms'));
  await holding.held();
  connection.close();
  await expect.poll(() => loggedRequests(service)).toEqual([['request aborted', '/v1/rooms', 499]]);
  holding.letGo();
  const metrics = await service.call('GET', '/metrics');
  expect(metrics.text).toContain(
    'rtc_http_request_duration_seconds_count{method="GET",route="/v1/rooms",status="499"} 1',
  );
});

it('each request of a kept connection is logged once, also one that the router cannot parse', async () => {
  const service = await startTestService();
  cleanUps.push(service.close);
  const connection = await openTo(service);
  connection.send('GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n');
  expect((await connection.read())?.status).toBe(200);
  connection.send('GET /%zz HTTP/1.1\r\nhost: x\r\n\r\n');
  const status = (await connection.read())?.status;
  connection.send('GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n');
  expect((await connection.read())?.status).toBe(404);
  await expect
    .poll(() => loggedRequests(service))
    .toEqual([
      ['request completed', '/v1/health', 200],
      ['request completed', '(unknown)', status],
      ['request completed', '(unknown)', 404],
    ]);
});

it('a probe that succeeds is logged at debug level, and one that fails at info', async () => {
  const mediaServer = await startScriptedMediaServer((_request, response) => response.writeHead(500).end());
  const service = await startTestService({ livekit: mediaServer.livekit });
  cleanUps.push(() => mediaServer.close(), service.close);
  const connection = await openTo(service);
  for (const path of ['/v1/health', '/ready']) {
    connection.send(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await connection.read();
  }
  const lines = () => service.logLines.filter(({ message }) => message === 'request completed');
  await expect
    .poll(() => lines().map(({ level, fields }) => [level, fields.route, fields.status]))
    .toEqual(
      expect.arrayContaining([
        ['debug', '/v1/health', 200],
        ['info', '/ready', 503],
      ]),
    );
});

it('a log line has the trace id of a caller that traces, and none for a malformed header', async () => {
  const service = await startTestService();
  cleanUps.push(service.close);
  const connection = await openTo(service);
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  for (const parent of [`00-${traceId}-00f067aa0ba902b7-01`, 'nonsense']) {
    connection.send(`GET /nothing HTTP/1.1\r\nhost: x\r\ntraceparent: ${parent}\r\n\r\n`);
    await connection.read();
  }
  const traces = () =>
    service.logLines.filter(({ fields }) => fields.status === 404).map(({ fields }) => fields.traceId);
  await expect.poll(traces).toEqual([traceId, undefined]);
});
