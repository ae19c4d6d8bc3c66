import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Key } from '../../../src/contract/keys.ts';
import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import recorded from '../../../src/server/platform/openapi/examples.json' with { type: 'json' };
import { collectingLog } from '../../support/app.ts';
import type { JsonResponse } from '../../support/http-call.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { startWorkers } from '../platform/openapi/support/scenario.ts';
import { type Stage, startStage } from '../recordings/support/stage.ts';
import { segment } from '../transcription/support/transcription-stage.ts';
import { chooseServicePort } from '../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../webhooks/support/receiver.ts';

/*
 * Two keys, each for its own rooms, and every operation of the OpenAPI document: what belongs to the rooms of one does not exist
 * for the other. An operation that is added to the document is tried without a change here.
 */

type Ids = Readonly<Record<string, string>>;

type Signing = { readonly apiKey: string; readonly apiSecret: string };

type Tenant = {
  readonly name: string;
  readonly signing: Signing;
  readonly ids: Ids;
  readonly receiver: Receiver;
};

type Operation = {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
  }[];
};

type Asked = { readonly method: string; readonly template: string; readonly operation: Operation };

/** What the recorded requests lack, or what finds more. */
const QUERIES: Ids = {
  getUsage: 'by=room',
  listEvents: 'limit=500',
  listRecordings: '',
  listTranscriptions: '',
  listSessions: '',
  listAudit: '',
  listDeliveries: '',
  getDelivery: '',
};

const BODIES: Readonly<Record<string, object>> = {
  startBroadcast: { hls: {} },
  changeBroadcast: { remove: ['bu_1'] },
};

/** Operations that are about all rooms, or change keys. */
const REFUSED = ['checkSelf', 'getMetrics', 'createKey', 'getKey', 'listKeys', 'revokeKey'];

/** Operations whose answer has something of the other tenant for the root key. */
const LISTS = [
  ...[
    'listRooms',
    'listClosedRooms',
    'listRecordings',
    'listBroadcasts',
    'listSessions',
    'listTranscriptions',
  ],
  ...['searchTranscripts', 'listPlans', 'listWebhooks', 'listEvents', 'listAudit', 'getUsage'],
];

describe.each(['SQLite', 'PostgreSQL'] as const)('keys for a part of the rooms on %s', (engine) => {
  const dataDirs: string[] = [];
  let stage: Stage;
  let store: Store;
  let acme: Tenant;
  let zeta: Tenant;

  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'rtc-tenants-'));
    dataDirs.push(dataDir);
    const database = engine === 'SQLite' ? undefined : await createMigratedDatabase();
    const { port, webhookUrl } = await chooseServicePort();
    const environment = {
      DATA_DIR: dataDir,
      PORT: `${port}`,
      METRICS: 'signed',
      BROADCAST_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...(database && { DATABASE_URL: database.url, ENCRYPTION_KEY: randomBytes(32).toString('hex') }),
    };
    stage = await startStage({
      environment,
      media: { webhookUrls: [webhookUrl], ingressUrls: { rtmp: 'rtmp://127.0.0.1:1935/live' } },
    });
    store = await openStore({
      database: database ? { databaseUrl: database.url } : { sqlitePath: join(dataDir, 'rtc.sqlite') },
      clock: systemClock,
      log: collectingLog([]),
    });
    await startWorkers(store);
    acme = await useEverything('acme');
    zeta = await useEverything('zeta');
  }, 60_000);

  afterAll(async () => {
    await acme?.receiver.close();
    await zeta?.receiver.close();
    await store?.close();
    await stage?.close();
    for (const dataDir of dataDirs) await rm(dataDir, { recursive: true, force: true });
  });

  /** Makes a key for rooms that begin so, and one of each thing with it. */
  async function useEverything(name: string): Promise<Tenant> {
    const { call } = stage.service;
    const asked = { name, scopes: ['admin'], rooms: [`${name}-`] };
    const key: Key = (await call('POST', '/v1/keys', { body: asked })).json;
    const signing = { apiKey: key.id, apiSecret: key.secret ?? '' };
    const receiver = await startReceiver();
    const send = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
      const response = await call(method, path, { signing, ...(body && { body }) });
      expect(response.status, `${method} ${path}: ${response.text}`).toBeLessThan(300);
      return response.json ?? {};
    };
    const roomId = `${name}-room`;
    const room = `/v1/rooms/${roomId}`;
    const { id: webhookId = '' } = await send('POST', '/v1/webhooks', { url: receiver.url });
    const planId = `${name}-plan`;
    await send('PUT', `/v1/plans/${planId}`, { prefix: `${name}-`, language: 'en-US' });
    await send('POST', '/v1/rooms', { name: roomId });
    await send('POST', '/v1/token', { roomId, userId: 'ada', name: 'Ada', role: 'host' });
    stage.media.control.join(roomId, { identity: `${name}-ada` });
    stage.media.control.publish(roomId, `${name}-ada`);
    await send('PUT', `${room}/vocabulary`, { terms: [`${name} term`] });
    const { ingressId = '' } = await send('POST', `${room}/ingress`, { type: 'rtmp', participantName: name });
    const { egressId: recordingId = '' } = await send('POST', `${room}/recording/start`);
    await stage.untilActive(recordingId);
    const { broadcastId = '' } = await send('POST', `${room}/broadcast/start`, { hls: {} });
    const { transcriptionId = '' } = await send('POST', `${room}/transcription/start`, { language: 'en-US' });
    await transcribe(transcriptionId, name);
    await send('POST', `${room}/transcription/stop`);
    for (const what of ['recording', 'broadcast']) await send('POST', `${room}/${what}/stop`);
    await vi.waitUntil(async () => (await stage.get(recordingId)).endedAt !== null, { timeout: 60_000 });
    await send('POST', `/v1/recordings/${recordingId}/transcribe`, { language: 'en-US' });
    await send('DELETE', `${room}/participants/${name}-bob?block=3600`);
    await send('DELETE', `/v1/rooms/${name}-closed?reopen=never`);
    await receiver.waitFor(({ body }) => body.room?.name === roomId);
    const page = await call('GET', `/v1/webhooks/${webhookId}/deliveries`, { signing });
    expect(page.status, page.text).toBe(200);
    const { deliveries }: { readonly deliveries: readonly { readonly id: string }[] } = page.json;
    const found = await call('GET', '/v1/sessions', { signing });
    expect(found.status, found.text).toBe(200);
    const { sessions }: { readonly sessions: readonly { readonly sessionId: string }[] } = found.json;
    return {
      name,
      signing,
      receiver,
      ids: {
        ...{
          roomId,
          planId,
          participantId: `${name}-ada`,
          webhookId,
          ingressId,
          recordingId,
          broadcastId,
          transcriptionId,
        },
        ...{ deliveryId: deliveries[0]?.id ?? '', sessionId: sessions[0]?.sessionId ?? '', keyId: key.id },
      },
    };
  }

  async function transcribe(id: string, name: string): Promise<void> {
    const owner = 'the worker';
    const now = Date.now();
    await store.transcriptions.claimLive({
      owner,
      now,
      leaseUntil: now + 3_600_000,
      limit: 9,
      supports: () => true,
    });
    const said = { text: `Good morning, ${name}.`, startedAt: now, endedAt: now + 900 };
    await store.transcriptions.addSegments(id, owner, [segment(`seg_${name}`, said)]);
  }

  function listOperations(): readonly Asked[] {
    return Object.entries(stage.service.document.paths).flatMap(([template, item]) =>
      Object.entries(item)
        .map(([method, operation]) => ({
          method: method.toUpperCase(),
          template,
          operation: operation as Operation,
        }))
        .filter(({ operation }) => (operation.security ?? []).length > 0),
    );
  }

  /** Sends the operation with the ids of `about` and the signature of another, or of the root key. */
  async function ask(
    { method, template, operation }: Asked,
    about: Ids,
    signing?: Signing,
  ): Promise<JsonResponse> {
    const known = (recorded.operations as Readonly<Record<string, { query?: Ids; body?: object }>>)[
      operation.operationId
    ];
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(about[name] ?? 'none'),
    );
    const query = QUERIES[operation.operationId] ?? new URLSearchParams(known?.query).toString();
    const body = BODIES[operation.operationId] ?? known?.body;
    const named = body && {
      ...body,
      ...('roomId' in body && { roomId: about.roomId }),
      ...(operation.operationId === 'createRoom' && { name: about.roomId }),
      ...(operation.operationId === 'putPlan' && { prefix: about.roomId }),
    };
    return await stage.service.call(method, query === '' ? path : `${path}?${query}`, {
      ...(signing && { signing }),
      ...(named && { body: named }),
    });
  }

  it('find nothing of the rooms of others, by any operation', async () => {
    const answers: Record<string, string> = {};
    for (const asked of listOperations()) {
      const { operationId } = asked.operation;
      const response = await ask(asked, zeta.ids, acme.signing);
      const isNamed =
        asked.template.includes('{') || ['createRoom', 'createToken', 'refreshToken'].includes(operationId);
      if (!isNamed && response.status < 300) expect(response.text, operationId).not.toContain('zeta');
      answers[operationId] = `${response.status}${isNamed ? '' : ' of its own'}`;
    }
    const unexpected = Object.entries(answers).filter(
      ([operationId, answer]) =>
        answer !== (REFUSED.includes(operationId) ? answer : '404') && !answer.endsWith('own'),
    );
    expect(Object.fromEntries(unexpected)).toEqual({});
    expect(REFUSED.map((operationId) => answers[operationId]?.slice(0, 3))).toEqual(REFUSED.map(() => '403'));
  });

  it('get the same answer for what others have and for what nobody has', async () => {
    const unknown = Object.fromEntries(
      Object.entries(zeta.ids).map(([name, id]) => [name, id.replace(/.$/, '_')]),
    );
    const read = listOperations().filter(
      ({ method, template }) => method === 'GET' && template.includes('{'),
    );
    expect(read.length).toBeGreaterThan(15);
    for (const asked of read) {
      const theirs = await ask(asked, zeta.ids, acme.signing);
      const nobodys = await ask(asked, unknown, acme.signing);
      const hide = ({ text }: JsonResponse, ids: Ids) =>
        Object.values(ids).reduce(
          (shown, id) => shown.replaceAll(id, 'ID'),
          text.replace(/"instance":"[^"]+"/, ''),
        );
      if (asked.template.includes('roomId') || asked.operation.operationId === 'getKey') continue;
      expect(hide(theirs, zeta.ids), asked.template).toBe(hide(nobodys, unknown));
    }
  });

  it('leave what others have as it is, which is there for its own key and for the root key', async () => {
    for (const asked of listOperations().filter(({ method }) => method === 'GET')) {
      const { operationId } = asked.operation;
      if (['getBroadcastStatus', 'getKey', 'downloadRecording'].includes(operationId)) continue;
      const byRoot = await ask(asked, zeta.ids);
      expect(byRoot.status, `${operationId}: ${byRoot.text}`).toBe(200);
      if (LISTS.includes(operationId)) expect(byRoot.text, operationId).toContain('zeta');
      if (REFUSED.includes(operationId)) continue;
      const own = await ask(asked, zeta.ids, zeta.signing);
      expect(own.status, `${operationId}: ${own.text}`).toBe(200);
      if (LISTS.includes(operationId)) expect(own.text, operationId).toContain('zeta');
      expect(own.text, operationId).not.toContain('acme');
    }
  });

  it('receive only events of their rooms', () => {
    for (const { name, receiver } of [acme, zeta]) {
      const rooms = receiver.received.map(({ body }) => body.room?.name.split('-')[0]);
      expect(rooms.length).toBeGreaterThan(3);
      expect(new Set(rooms)).toEqual(new Set([name]));
    }
  });
});
