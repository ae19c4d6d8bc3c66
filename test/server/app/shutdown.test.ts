import { afterEach, describe, expect, it } from 'vitest';
import { RawConnection } from '../../support/raw-http.ts';
import {
  holdable,
  neverRespond,
  respondEmpty,
  type ScriptedMediaServer,
  startScriptedMediaServer,
} from '../../support/scripted-media-server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signedGet } from '../../support/sign.ts';

/*
 * Tests the shutdown: running requests get their responses, idle connections are closed at once, new requests are refused,
 * and after 10 s the service closes in any case. A scripted media server keeps requests running for as long as a test
 * needs.
 */

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startAt(mediaServer: ScriptedMediaServer): Promise<TestService> {
  const service = await startTestService({ livekit: mediaServer.livekit });
  cleanUps.push(() => mediaServer.close(), service.close);
  return service;
}

async function openTo(service: TestService): Promise<RawConnection> {
  const connection = await RawConnection.open(service.url);
  cleanUps.push(() => connection.close());
  return connection;
}

/** A test that takes longer has waited for the 10 s after which the service closes in any case. */
const BEFORE_THE_DEADLINE = 9_500;
const HEALTH = 'GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a service that closes', () => {
  it(
    'responds to running requests, and then closes at once',
    async () => {
      const holding = holdable();
      const service = await startAt(await startScriptedMediaServer(holding.script));
      const connection = await openTo(service);
      holding.hold();
      connection.send(signedGet(service, '/v1/rooms'));
      await holding.held();
      const stopped = service.stop();
      holding.letGo();
      const response = await connection.read();
      expect([response?.status, response?.text]).toEqual([200, '{"rooms":[]}']);
      await connection.closed();
      await stopped;
    },
    BEFORE_THE_DEADLINE,
  );

  it('rejects a further request on an open connection, with a problem', async () => {
    const holding = holdable();
    const service = await startAt(await startScriptedMediaServer(holding.script));
    const connection = await openTo(service);
    holding.hold();
    connection.send(signedGet(service, '/v1/rooms'));
    await holding.held();
    const stopped = service.stop();
    // This request is pipelined behind the running one, and is read while the service closes.
    connection.send(HEALTH);
    holding.letGo();
    expect((await connection.read())?.status).toBe(200);
    const refused = await connection.read();
    expect(refused?.status).toBe(503);
    expect(refused?.headers['content-type']).toContain('application/problem+json');
    expect(JSON.parse(refused?.text ?? '')).toMatchObject({ type: 'urn:problem-type:rtc:shutting-down' });
    expect(refused?.headers.connection).toBe('close');
    await stopped;
  });

  it(
    'accepts no new connections and closes idle ones',
    async () => {
      const service = await startAt(await startScriptedMediaServer(respondEmpty));
      const used = await openTo(service);
      used.send(HEALTH);
      expect((await used.read())?.status).toBe(200);
      const unused = await openTo(service);
      await service.stop();
      await Promise.all([used.closed(), unused.closed()]);
      await expect(RawConnection.open(service.url)).rejects.toThrow('ECONNREFUSED');
    },
    BEFORE_THE_DEADLINE,
  );

  it('closes once, however often it is called', async () => {
    const service = await startAt(await startScriptedMediaServer(respondEmpty));
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();
    expect(service.logLines.filter((line) => line.level === 'error')).toEqual([]);
  });

  it('closes after 10 s, even with a request that hangs, and leaves nothing open', async () => {
    const mediaServer = await startScriptedMediaServer(neverRespond);
    const service = await startAt(mediaServer);
    const hanging = await openTo(service);
    hanging.send(signedGet(service, '/v1/rooms/demo/recording'));
    const halfSent = await openTo(service);
    halfSent.send('GET /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
    await mediaServer.called(1);
    await service.stop();
    await Promise.all([hanging.closed(), halfSent.closed()]);
  }, 120_000);
});
