import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sharedLivekit } from '../../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { LOOPBACK_ALLOWED, register } from '../../webhooks/support/hooked-service.ts';
import { mediaWebhook } from '../../webhooks/support/media-webhook.ts';
import { type Receiver, startReceiver } from '../../webhooks/support/receiver.ts';
import { type CollectedSpan, startCollector } from './support/collector.ts';

/* Uses the real media server and a small collector. */

const SERVER = 2;
const CLIENT = 3;

let collector: Awaited<ReturnType<typeof startCollector>>;
let receiver: Receiver;
let livekit: Awaited<ReturnType<typeof sharedLivekit>>;
let service: TestService;
beforeAll(async () => {
  collector = await startCollector();
  receiver = await startReceiver();
  livekit = await sharedLivekit();
  service = await startTestService({
    livekit,
    environment: {
      ...LOOPBACK_ALLOWED,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=rooms',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
  });
  await register(service, receiver.url, ['room_finished', 'participant_joined']);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
  await collector.close();
});

const newTraceId = (): string => randomBytes(16).toString('hex');
const CALLER = 'c0ffee0000000001';
const readHeader = (traceId: string, flags = '01') => ({ traceparent: `00-${traceId}-${CALLER}-${flags}` });

/** Resolves to the spans of a trace, when spans with these names have arrived. */
async function readTrace(traceId: string, names: readonly string[]): Promise<readonly CollectedSpan[]> {
  const spans = () => collector.spans().filter((span) => span.traceId === traceId);
  await expect.poll(() => spans().map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
  return spans();
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan =>
  spans.find((span) => span.name === name) ?? expect.unreachable(name);

async function postMediaEvent(traceId: string, event: Readonly<Record<string, unknown>>): Promise<void> {
  const { body, headers } = mediaWebhook(event, livekit);
  const response = await fetch(`${service.url}/livekit/webhook`, {
    method: 'POST',
    body,
    headers: { ...headers, ...readHeader(traceId) },
  });
  expect(response.status).toBe(200);
}

describe('a trace', () => {
  it('continues from the caller through the media server', async () => {
    const traceId = newTraceId();
    const body = { name: `traced-${randomUUID()}` };
    await service.call('POST', '/v1/rooms', { body, headers: readHeader(traceId) });
    const spans = await readTrace(traceId, ['POST /v1/rooms', 'livekit.createRoom']);
    const request = named(spans, 'POST /v1/rooms');
    expect(request).toMatchObject({ parentSpanId: CALLER, kind: SERVER, isError: false });
    expect(request.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/rooms',
      'http.response.status_code': 201,
    });
    expect(request.resource).toMatchObject({
      'service.name': 'rtc-service',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'deployment.environment.name': 'test',
    });
    expect(named(spans, 'livekit.createRoom')).toMatchObject({
      parentSpanId: request.spanId,
      kind: CLIENT,
      attributes: { 'rpc.method': 'createRoom' },
    });
    expect(collector.exports.at(-1)).toMatchObject({
      path: '/v1/traces',
      headers: { 'x-tenant': 'rooms', 'content-type': 'application/json' },
    });
  });

  it('continues from a request through the database and the delivery to the receiver', async () => {
    const traceId = newTraceId();
    const name = `traced-${randomUUID()}`;
    const event = { event: 'room_finished', id: `EV_${name}`, room: { sid: `RM_${name}`, name } };
    await postMediaEvent(traceId, event);
    const spans = await readTrace(traceId, [
      'POST /livekit/webhook',
      'all.transaction',
      'webhook room_finished',
    ]);
    const request = named(spans, 'POST /livekit/webhook');
    expect(request.parentSpanId).toBe(CALLER);
    expect(named(spans, 'all.transaction')).toMatchObject({ parentSpanId: request.spanId, kind: CLIENT });
    const delivery = named(spans, 'webhook room_finished');
    expect(delivery).toMatchObject({
      parentSpanId: request.spanId,
      kind: CLIENT,
      attributes: { 'server.address': new URL(receiver.url).host, 'http.response.status_code': 200 },
    });
    const [received] = await receiver.waitFor(({ body }) => body.room?.name === name);
    expect(received?.headers.traceparent).toBe(`00-${traceId}-${delivery.spanId}-01`);
  });

  it('is separate for each event, though the events share a commit', async () => {
    const rooms = Array.from({ length: 8 }, () => ({
      traceId: newTraceId(),
      name: `traced-${randomUUID()}`,
    }));
    await Promise.all(
      rooms.map(({ traceId, name }) =>
        postMediaEvent(traceId, {
          event: 'room_finished',
          id: `EV_${name}`,
          room: { sid: `RM_${name}`, name },
        }),
      ),
    );
    for (const { traceId, name } of rooms) {
      const [received] = await receiver.waitFor(({ body }) => body.room?.name === name);
      expect(received?.headers.traceparent).toContain(traceId);
    }
  });

  it("begins with a request that has none, and is in the request's log line", async () => {
    const { headers } = await service.call('GET', '/v1/webhooks');
    const line = () => service.logLines.find(({ fields }) => fields.requestId === headers['x-request-id']);
    await expect.poll(line).toBeDefined();
    const spans = await readTrace(String(line()?.fields.traceId), ['GET /v1/webhooks']);
    expect(named(spans, 'GET /v1/webhooks').parentSpanId).toBeUndefined();
  });

  it('has no names of rooms or people', async () => {
    const traceId = newTraceId();
    const name = `secret-${randomUUID()}`;
    const body = { userId: 'anna.rossi', displayName: 'Anna Rossi', role: 'participant' };
    const path = `/v1/rooms/${name}/tokens`;
    await service.call('POST', path, { body, headers: readHeader(traceId) });
    await expect.poll(() => collector.spans().some((span) => span.traceId === traceId)).toBe(true);
    expect(collector.exports.map((each) => String(each.body)).join()).not.toMatch(/secret-|rossi/i);
  });

  it('is not sent when the caller has decided against it, but still passed on', async () => {
    const traceId = newTraceId();
    const name = `unsampled-${randomUUID()}`;
    const { body, headers } = mediaWebhook(
      { event: 'room_finished', id: `EV_${name}`, room: { sid: `RM_${name}`, name } },
      livekit,
    );
    const traceHeaders = readHeader(traceId, '00');
    await fetch(`${service.url}/livekit/webhook`, {
      method: 'POST',
      body,
      headers: { ...headers, ...traceHeaders },
    });
    const [received] = await receiver.waitFor((one) => one.body.room?.name === name);
    expect(received?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    const later = newTraceId();
    await service.call('GET', '/v1/webhooks', { headers: readHeader(later) });
    await readTrace(later, ['GET /v1/webhooks']);
    expect(collector.spans().some((span) => span.traceId === traceId)).toBe(false);
  });

  it('does not include probes', async () => {
    const traceId = newTraceId();
    await fetch(`${service.url}/v1/health`, { headers: readHeader(traceId) });
    const later = newTraceId();
    await service.call('GET', '/v1/webhooks', { headers: readHeader(later) });
    await readTrace(later, ['GET /v1/webhooks']);
    expect(collector.spans().some((span) => span.traceId === traceId)).toBe(false);
  });
});

describe('traces', () => {
  it('are sent as protobuf by default, compressed on request, and completely at shutdown', async () => {
    const other = await startCollector();
    onTestFinished(() => other.close());
    const traced = await startTestService({
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: other.url, OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' },
    });
    await traced.call('GET', '/v1/webhooks');
    await traced.close();
    expect(other.exports).toMatchObject([
      { headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' } },
    ]);
  });

  it('delay nothing while the collector does not respond, which one log line reports', async () => {
    const other = await startCollector();
    await other.close();
    const traced = await startTestService({
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: other.url,
        OTEL_BSP_SCHEDULE_DELAY: '20',
        OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      },
    });
    onTestFinished(() => traced.close());
    expect((await traced.call('GET', '/v1/webhooks')).status).toBe(200);
    const warnings = () =>
      traced.logLines.filter(({ message }) => String(message).startsWith('traces cannot'));
    await expect.poll(() => warnings().length).toBe(1);
  });
});
