import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeliveryList } from '../../../../../src/contract/deliveries.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../../../../src/contract/event-names.ts';
import type { Ingress } from '../../../../../src/contract/ingress.ts';
import type { Key } from '../../../../../src/contract/keys.ts';
import type { RecordingStart } from '../../../../../src/contract/recordings.ts';
import type { SessionList } from '../../../../../src/contract/sessions.ts';
import type { Token } from '../../../../../src/contract/tokens.ts';
import type { LiveStarted, PostQueued } from '../../../../../src/contract/transcription.ts';
import type { Webhook } from '../../../../../src/contract/webhooks.ts';
import { openStore } from '../../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../../src/server/app/store.ts';
import { systemClock } from '../../../../../src/server/platform/clock.ts';
import { collectingLog } from '../../../../support/app.ts';
import { type Stage, startStage } from '../../../recordings/support/stage.ts';
import { segment } from '../../../transcription/support/transcription-stage.ts';
import { chooseServicePort } from '../../../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../../../webhooks/support/receiver.ts';
import { ExchangeRecorder, type Exchanges } from './exchanges.ts';

/*
 * The requests of which the document's examples are recorded: a room, participants, a recording, a transcription, webhooks,
 * and errors of callers.
 */

const ROOM = { roomId: 'demo' };
const ADA = { identity: 'ada', name: 'Ada Lovelace', metadata: '{"team":"blue"}' };
const TOKEN = {
  roomId: 'demo',
  userId: 'ada',
  name: 'Ada Lovelace',
  role: 'host',
  metadata: { team: 'blue' },
};

type Scene = {
  readonly recorder: ExchangeRecorder;
  readonly stage: Stage;
  readonly store: Store;
  readonly receiver: Receiver;
};

export async function playScenario(): Promise<Exchanges> {
  const dataDir = await mkdtemp(join(tmpdir(), 'rtc-examples-'));
  const { port, webhookUrl } = await chooseServicePort();
  const stage = await startStage({
    environment: { DATA_DIR: dataDir, PORT: `${port}` },
    media: { webhookUrls: [webhookUrl], ingressUrls: { rtmp: 'rtmp://127.0.0.1:1935/live' } },
  });
  const store = await openStore({
    database: { sqlitePath: join(dataDir, 'rtc.sqlite') },
    clock: systemClock,
    log: collectingLog([]),
  });
  const receiver = await startReceiver();
  const recorder = new ExchangeRecorder(stage.service);
  try {
    await play({ recorder, stage, store, receiver });
    return { ...recorder.exchanges, deliveries: listDeliveries(receiver) };
  } finally {
    await receiver.close();
    await store.close();
    await stage.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function play(scene: Scene): Promise<void> {
  const { recorder } = scene;
  await recorder.send('startTranscription', { path: ROOM, fails: 'addon-unavailable' });
  await startWorkers(scene.store);
  await recorder.send('getHealth');
  await recorder.send('getReadiness');
  await recorder.send('checkSelf');
  await recorder.send('createToken', { body: TOKEN });
  await recorder.send('refreshToken', { body: TOKEN });
  const all = await recorder.send<Webhook>('createWebhook', { body: { url: scene.receiver.url } });
  await failToSign(recorder);
  await meet(scene);
  const { egressId } = await record(scene);
  await transcribe(scene, egressId);
  await stream(scene);
  await administer(scene, all.id);
  await shareAccess(recorder);
  await endMeeting(scene, egressId);
  await keepClosed(scene);
  await closeByPlan(scene);
  await waitInLobby(scene);
  await findNothing(recorder);
}

/**
 * Returns one delivery of each event about Ada, not about the stream. They are numbered here, because the order of a
 * stream's events may change.
 */
function listDeliveries({ received }: Receiver): Readonly<Record<string, unknown>> {
  const bodies = received.map(({ body }) => body);
  const isOfAda = ({ participant }: (typeof bodies)[number]) => (participant?.identity ?? 'ada') === 'ada';
  const found = [...EVENT_TYPES, TEST_EVENT].flatMap((event) => {
    const body = bodies.find((each) => each.event === event && isOfAda(each));
    return body === undefined ? [] : [[event, body] as const];
  });
  return Object.fromEntries(
    found.map(([event, body], index) => [
      event,
      { ...body, sequence: body.sequence === null ? null : index + 1 },
    ]),
  );
}

/** Registers speech workers that send heartbeats and claim nothing. */
export async function startWorkers(store: Store): Promise<void> {
  for (const kind of ['stt-live', 'stt-post'] as const) {
    const aliveUntil = Date.now() + 3_600_000;
    await store.transcriptions.beat({
      kind,
      workerId: kind,
      languages: ['en'],
      failedModels: [],
      aliveUntil,
    });
  }
}

async function failToSign(recorder: ExchangeRecorder): Promise<void> {
  const fail = (fails: string, signing: object | false) =>
    recorder.send('listRooms', { fails, options: { signing } });
  await fail('missing-credentials', false);
  await fail('invalid-api-key', { apiKey: 'another' });
  await fail('invalid-signature', { apiSecret: 'another' });
  await fail('timestamp-out-of-window', { timestamp: 1_000_000_000 });
  await recorder.send('createRoom', { body: { name: 5, maxParticipants: 0 }, fails: 'invalid-request' });
}

async function meet({ recorder, stage, receiver }: Scene): Promise<void> {
  const untilDelivered = (event: string) => receiver.waitFor(({ body }) => body.event === event);
  await recorder.send('createRoom', { body: { name: 'demo', maxParticipants: 20, emptyTimeout: 600 } });
  await untilDelivered('room_created');
  stage.media.control.join('demo', {
    ...ADA,
    attributes: { 'rtc.role': 'host', 'rtc.canMuteOthers': 'true' },
  });
  await untilDelivered('participant_joined');
  const { sid } = stage.media.control.publish('demo', 'ada');
  await untilDelivered('track_published');
  await recorder.send('listRooms');
  await recorder.send('getRoom', { path: ROOM });
  await recorder.send('listParticipants', { path: ROOM });
  const ada = { ...ROOM, participantId: 'ada' };
  await recorder.send('updateParticipant', {
    path: ada,
    body: { name: 'Ada Lovelace', attributes: { hand: 'raised' } },
  });
  const poll = { data: '{"poll":"open"}', topic: 'poll' };
  await recorder.send('sendRoomData', { path: ROOM, body: poll });
  await recorder.send('muteRoom', { path: ROOM, body: { except: ['bob'], sources: ['microphone'] } });
  await recorder.send('muteParticipant', { path: ada, body: { trackSid: sid } });
  await recorder.send('muteParticipant', {
    path: ada,
    body: { trackSid: 'TR_none' },
    fails: 'track-not-found',
  });
  await recorder.send('listEvents', { query: { room: 'demo', limit: '3' } });
}

async function record({ recorder, stage, receiver }: Scene): Promise<RecordingStart> {
  await recorder.send('stopRecording', { path: ROOM, fails: 'no-active-recording' });
  const started = await recorder.send<RecordingStart>('startRecording', { path: ROOM });
  await receiver.waitFor(({ body }) => body.event === 'egress_started');
  await recorder.send('startRecording', { path: ROOM });
  const recordingId = started.egressId;
  await waitFor(async () => (await stage.get(recordingId)).mediaStartedAt !== null);
  await recorder.send('getRecordingStatus', { path: ROOM });
  await recorder.send('downloadRecording', { path: { recordingId }, fails: 'recording-not-finished' });
  await recorder.send('stopRecording', { path: ROOM });
  await receiver.waitFor(({ body }) => body.event === 'egress_ended');
  await waitFor(async () => (await stage.get(recordingId)).endedAt !== null);
  await recorder.send('getRecording', { path: { recordingId } });
  await recorder.send('listRecordings', { query: { roomId: 'demo' } });
  const ranges = { headers: { Range: 'bytes=99999999-' } };
  await recorder.send('downloadRecording', {
    path: { recordingId },
    fails: 'range-not-satisfiable',
    options: ranges,
  });
  return started;
}

async function transcribe({ recorder, store, receiver }: Scene, recordingId: string): Promise<void> {
  const names = { participants: { ada: 'Ada Lovelace' } };
  const { transcriptionId } = await recorder.send<LiveStarted>('startTranscription', {
    path: ROOM,
    body: { language: 'en-US', options: { partialResults: true } },
  });
  const now = Date.now();
  const owner = 'the worker';
  const claim = { owner, now, leaseUntil: now + 3_600_000, limit: 100, supports: () => true };
  await store.transcriptions.claimLive(claim);
  await store.transcriptions.addSegments(transcriptionId, owner, [
    segment('seg_4bPp8Vi9S6DdAbCd', { text: 'Good morning.', startedAt: now + 1500, endedAt: now + 2750 }),
  ]);
  await recorder.send('deleteTranscription', { path: { transcriptionId }, fails: 'conflict' });
  await recorder.send('listLiveTranscriptions');
  await recorder.send('nameSpeakers', { path: ROOM, body: names });
  await recorder.send('getTranscription', { path: ROOM });
  await recorder.send('stopTranscription', { path: ROOM });
  await receiver.waitFor(({ body }) => body.event === 'transcription_completed');
  await recorder.send('searchTranscripts', { query: { q: 'morning' } });
  await recorder.send('getTranscriptionById', { path: { transcriptionId } });
  await recorder.send('nameSpeakersById', { path: { transcriptionId }, body: names });
  const vocabulary = { terms: ['Ada Lovelace', 'LiveKit', 'codice fiscale'] };
  await recorder.send('setVocabulary', { path: ROOM, body: vocabulary });
  await recorder.send('getVocabulary', { path: ROOM });
  await recorder.send('deleteVocabulary', { path: ROOM });
  await recorder.send('forgetWords', { path: { ...ROOM, participantId: 'bea' } });
  const queued = await recorder.send<PostQueued>('createTranscription', {
    path: { recordingId },
    body: { language: 'en-US' },
  });
  await recorder.send('listTranscriptions', { query: { recordingId } });
  await recorder.send('deleteTranscription', { path: { transcriptionId: queued.transcriptionId } });
}

async function stream({ recorder, stage, receiver }: Scene): Promise<void> {
  const body = { type: 'rtmp', participantName: 'Camera 1', participantIdentity: 'camera-1' };
  const { ingressId } = await recorder.send<Ingress>('createIngress', { path: ROOM, body });
  await recorder.send('listIngress', { path: ROOM });
  stage.media.control.beginStream(ingressId);
  await receiver.waitFor((one) => one.body.event === 'ingress_started');
  stage.media.control.endStream(ingressId);
  await receiver.waitFor((one) => one.body.event === 'ingress_ended');
  await receiver.waitFor(
    ({ body }) => body.event === 'participant_left' && body.participant?.identity === 'camera-1',
  );
  await recorder.send('listIngressOfRooms');
  await recorder.send('deleteIngress', { path: { ...ROOM, ingressId } });
}

async function administer({ recorder, receiver }: Scene, firstId: string): Promise<void> {
  await recorder.send('listWebhooks');
  const { id: webhookId } = await recorder.send<Webhook>('createWebhook', {
    body: { url: receiver.url, events: ['room_started', 'room_finished'] },
  });
  const path = { webhookId };
  await recorder.send('getWebhook', { path });
  await recorder.send('patchWebhook', { path, body: { events: ['room_finished'] } });
  await recorder.send('putWebhook', {
    path,
    body: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
  });
  await recorder.send('testWebhook', { path });
  const { deliveries } = await recorder.send<DeliveryList>('listDeliveries', {
    path,
    query: { limit: '10' },
  });
  const deliveryId = deliveries[0]?.id ?? '';
  await recorder.send('getDelivery', { path: { ...path, deliveryId }, query: { wait: '5' } });
  await recorder.send('getWebhookStats', { path });
  await recorder.send('replayDelivery', { path: { ...path, deliveryId } });
  await recorder.send('replayFailedDeliveries', { path, query: { since: '2026-01-31T09:30:00.000Z' } });
  await recorder.send('deleteWebhook', { path });
  await recorder.send('replayDelivery', {
    path: { webhookId: firstId, deliveryId: 'dlv_none' },
    fails: 'delivery-not-found',
  });
}

async function shareAccess(recorder: ExchangeRecorder): Promise<void> {
  const { id: keyId, secret = '' } = await recorder.send<Key>('createKey', {
    body: { name: 'booking back end', scopes: ['read', 'rooms'], ttl: 7_776_000 },
  });
  const options = { signing: { apiKey: keyId, apiSecret: secret } };
  await recorder.send('getOwnKey', { options });
  await recorder.send('createWebhook', {
    body: { url: 'https://example.org/hooks/rtc' },
    options,
    fails: 'insufficient-scope',
  });
  await recorder.send('listKeys');
  await recorder.send('getKey', { path: { keyId } });
  await recorder.send('revokeKey', { path: { keyId } });
  await recorder.send('getKey', { path: { keyId: 'key_none' }, fails: 'key-not-found' });
  await recorder.send('listAudit', { query: { limit: '2' } });
}

async function endMeeting({ recorder, receiver }: Scene, recordingId: string): Promise<void> {
  await recorder.send('removeParticipant', { path: { ...ROOM, participantId: 'ada' } });
  await receiver.waitFor(
    ({ body }) => body.event === 'participant_left' && body.participant?.identity === 'ada',
  );
  await keepOut(recorder);
  await recorder.send('deleteRoom', { path: ROOM });
  await receiver.waitFor(({ body }) => body.event === 'room_finished');
  const { sessions } = await recorder.send<SessionList>('listSessions', { query: { roomId: 'demo' } });
  const session = { sessionId: sessions[0]?.sessionId ?? '' };
  await recorder.send('getSession', { path: session });
  await recorder.send('listSessionParticipants', { path: session });
  await recorder.send('deleteRecording', { path: { recordingId } });
}

async function keepOut(recorder: ExchangeRecorder): Promise<void> {
  const path = { ...ROOM, participantId: 'ada' };
  await recorder.send('removeParticipant', {
    path: { ...ROOM, participantId: 'ada' },
    query: { block: '3600' },
  });
  await recorder.send('listBlocks', { path: ROOM });
  await recorder.send('listBlocksOfRooms');
  await recorder.send('createToken', { body: TOKEN, fails: 'participant-blocked' });
  await recorder.send('removeBlock', { path });
  await recorder.send('removeBlock', { path, fails: 'block-not-found' });
}

async function keepClosed({ recorder, stage, receiver }: Scene): Promise<void> {
  await recorder.send('deleteRoom', { path: ROOM, query: { reopen: 'never' } });
  await recorder.send('createToken', { body: TOKEN, fails: 'room-closed' });
  await recorder.send('listClosedRooms');
  stage.media.control.join('demo', ADA);
  await receiver.waitFor(({ body }) => body.event === 'room_join_refused');
  const isClosed = async () => (await stage.service.call('GET', '/v1/rooms/demo')).status === 404;
  await waitFor(isClosed);
}

async function closeByPlan({ recorder, stage, receiver }: Scene): Promise<void> {
  const path = { planId: 'lessons' };
  const starts = { record: { at: 'role:host', layout: 'speaker' }, transcribe: { language: 'fr-FR' } };
  const body = { prefix: 'lesson-', opensAt: '2099-01-31T09:30:00.000Z', earlyJoin: 300, ...starts };
  await recorder.send('putPlan', { path, body });
  await recorder.send('putPlan', { path, body: { ...body, maxDuration: 3600 } });
  await recorder.send('getPlan', { path });
  await recorder.send('listPlans');
  await recorder.send('createToken', {
    body: { ...TOKEN, roomId: 'lesson-7' },
    fails: 'room-not-open-yet',
  });
  const { transcribe } = starts;
  const soon = { prefix: 'lesson-', maxDuration: 1, transcribe };
  await stage.service.call('PUT', '/v1/plans/lessons', { body: soon });
  stage.media.control.join('lesson-7', ADA);
  await receiver.waitFor(({ body }) => body.event === 'planned_start_failed');
  await receiver.waitFor(({ body }) => body.event === 'room_closing');
  await recorder.send('deletePlan', { path });
  await recorder.send('getPlan', { path, fails: 'plan-not-found' });
}

/** Nobody connects to the embedded media server by a token alone, so its claims are taken from it. */
async function waitInLobby({ recorder, stage, receiver }: Scene): Promise<void> {
  const path = { roomId: 'visit-7' };
  const ada = { ...path, participantId: 'ada' };
  const { service, media } = stage;
  await service.call('PUT', '/v1/plans/visits', { body: { prefix: 'visit-', lobby: true } });
  const untilTold = (event: string, count = 1) =>
    waitFor(async () => receiver.received.filter(({ body }) => body.event === event).length >= count);
  const arrive = async (count: number) => {
    const body = { ...TOKEN, roomId: 'visit-7', role: 'participant' };
    const { token } = (await service.call('POST', '/v1/token', { body })).json as Token;
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const { sub: identity, metadata, attributes, video } = claims;
    media.control.join(video.room, { identity, metadata, attributes, hidden: true });
    await untilTold('participant_waiting', count);
    return video.room;
  };
  media.control.leave(await arrive(1), 'ada');
  await arrive(2);
  await recorder.send('listWaiting', { path });
  await recorder.send('denyWaiting', { path: ada });
  await untilTold('participant_denied');
  await recorder.send('admitWaiting', { path: ada, fails: 'waiting-not-found' });
  await arrive(3);
  await recorder.send('admitWaiting', { path: ada });
  await untilTold('participant_admitted');
  await recorder.send('admitAllWaiting', { path });
}

async function findNothing(recorder: ExchangeRecorder): Promise<void> {
  const ada = { ...ROOM, participantId: 'ada' };
  await recorder.send('getRoom', { path: ROOM, fails: 'room-not-found' });
  await recorder.send('getRecording', { path: { recordingId: 'EG_none' }, fails: 'recording-not-found' });
  await recorder.send('getSession', { path: { sessionId: 'RM_none' }, fails: 'session-not-found' });
  await recorder.send('getWebhook', { path: { webhookId: 'wh_none' }, fails: 'webhook-not-found' });
  const transcriptionId = 'tr_none';
  await recorder.send('getTranscriptionById', {
    path: { transcriptionId },
    fails: 'transcription-not-found',
  });
  await recorder.send('deleteIngress', {
    path: { ...ROOM, ingressId: 'IN_none' },
    fails: 'ingress-not-found',
  });
  const text = { options: { headers: { 'Content-Type': 'text/plain' }, body: '{}' } };
  await recorder.send('createRoom', { ...text, fails: 'unsupported-media-type' });
  await recorder.send('createRoom', { body: { name: 'demo' } });
  await recorder.send('removeParticipant', { path: ada, fails: 'participant-not-found' });
}

async function waitFor(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
