import { RtcClient } from '../../../src/client/client.ts';
import type { Store } from '../../../src/server/app/store.ts';
import type { EmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import type { StoredSegment } from '../../../src/server/transcription/store.ts';
import { respondWith, startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { findWithin } from '../../support/poll.ts';
import type { Writer } from './texts.ts';

export type Stored = {
  readonly service: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  readonly media: EmbeddedMediaServer;
  readonly store: Store;
};

const SOON = { everyMs: 50, withinMs: 15_000 };
const HOUR_MS = 3_600_000;

/**
 * Puts the text of every writer wherever a stranger can choose one: as a participant, as a caller with a key of few rights, as a
 * receiver, as a program that streams. Returns the places, and the addresses of the console that show them.
 */
export async function placeTexts(
  context: Pick<ExperimentContext, 'cleanUp' | 'report'>,
  stored: Stored,
  writers: readonly Writer[],
): Promise<{ readonly places: ReadonlySet<string>; readonly views: readonly string[] }> {
  const client = new RtcClient(stored.service);
  context.cleanUp(() => client.close());
  const places = new Set<string>();
  const views: string[] = [];
  await stored.store.transcriptions.beat({
    ...{ kind: 'stt-live', workerId: 'one', languages: ['en'], failedModels: [] },
    aliveUntil: Date.now() + HOUR_MS,
  });
  const receiver = context.cleanUp(await startReceiver());
  for (const write of writers) {
    /** Does something with the text of a place. A service that refuses the text shows it nowhere but in its log of requests. */
    const put = async <Result>(place: string, act: (text: string) => Promise<Result>) => {
      places.add(place);
      return await act(write(place)).catch((error: Error) => {
        context.report(`refused as ${place}: ${error.message.slice(0, 120)}`);
        return undefined;
      });
    };
    receiver.behave(respondWith(500, write('response')));
    places.add('response');
    const hook = await put('hook', (text) =>
      client.webhooks.create({ url: `${receiver.url}/${encodeURI(text)}` }),
    );
    await placeInRoom({ client, put, views, stored }, write);
    await placeBySettings({ client, put, views });
    await findWithin(SOON, async () => {
      const { deliveries } = await client.deliveries.list(hook?.id ?? '');
      return deliveries.some(({ attempts }) => attempts.length > 0);
    });
    const { deliveries } = await client.deliveries.list(hook?.id ?? '');
    const delivery = deliveries.find(({ attempts }) => attempts.length > 0)?.id;
    views.push(`/webhooks/${hook?.id}?delivery=${delivery}`, `/explain/delivery/${delivery}`);
  }
  const { recordings } = await client.recordings.list();
  for (const { recordingId } of recordings)
    views.push(`/recordings/${encodeURIComponent(recordingId)}`, `/explain/recording/${recordingId}`);
  const { sessions } = await client.sessions.list();
  for (const { sessionId } of sessions) views.push(`/sessions/${sessionId}`, `/explain/session/${sessionId}`);
  const { entries } = await client.audit.list({ limit: 50 });
  for (const { requestId } of entries.slice(0, 5))
    views.push(`/audit?request=${encodeURIComponent(requestId)}`);
  const { events } = await client.events.list({ cursor: 'latest' }).catch(() => ({ events: [] }));
  for (const { id } of events) views.push(`/events?event=${id}`);
  return { places, views };
}

type Placing = {
  readonly client: RtcClient;
  readonly put: <Result>(
    place: string,
    act: (text: string) => Promise<Result>,
  ) => Promise<Result | undefined>;
  readonly views: string[];
};

/** What people in a room choose: names, metadata, attributes, tracks, words; and what is made of it. */
async function placeInRoom(
  { client, put, views, stored: { media, store } }: Placing & { readonly stored: Stored },
  write: Writer,
): Promise<void> {
  const room = write('room');
  const encoded = encodeURIComponent(room);
  await put('room', () => client.rooms.create({ name: room, metadata: write('about') }));
  await put('about', async () => undefined);
  const identity = write('identity');
  for (const place of ['identity', 'name']) await put(place, async () => undefined);
  media.control.join(room, {
    ...{ identity, name: write('name'), metadata: write('metadata') },
    attributes: { hand: write('attribute'), 'rtc.role': write('attribute'), [write('attribute')]: 'x' },
  });
  media.control.publish(room, identity, { name: write('track') });
  media.control.join(room, { identity: 'ada', name: 'Ada' });
  media.control.publish(room, 'ada');
  media.control.join(room, { identity: write('blocked') });
  await put('blocked', (text) => client.participants.remove(room, text, { block: 86_400 }));
  await put('stream', (text) =>
    client.ingress.create(room, { type: 'rtmp', participantName: text, participantIdentity: text }),
  );
  await put('broadcast', (text) =>
    client.broadcasts.start(room, { urls: [`rtmp://127.0.0.1:9/${encodeURIComponent(text)}/key`] }),
  );
  const started = await put('words', () => client.transcription.start(room));
  if (started !== undefined) {
    const now = Date.now();
    const owner = 'the experiment';
    const claim = { owner, now, leaseUntil: now + HOUR_MS, limit: 100, supports: () => true };
    await store.transcriptions.claimLive(claim);
    await store.transcriptions.addSegments(started.transcriptionId, owner, [
      said(write, { identity, name: write('speaker') }),
      said(write, { identity: 'ada', name: 'Ada' }),
    ]);
    await put('speaker', (text) => client.transcription.nameSpeakers(room, { ada: text }));
  }
  await client.recordings.start(room);
  await findWithin(SOON, async () => (await client.recordings.status(room)).isRecording);
  await client.recordings.stop(room).catch(() => undefined);
  views.push(`/rooms/${encoded}`, `/transcriptions/live/${encoded}`, `/explain/room/${encoded}`);
  views.push(`/ingress?room=${encoded}`, `/events?room=${encoded}`, `/usage?by=room&room=${encoded}`);
}

function said(write: Writer, who: Pick<StoredSegment, 'identity' | 'name'>): StoredSegment {
  const startedAt = Date.now();
  return {
    ...{ id: `segment-${who.identity}`, trackId: 'TR_1', text: `zanzibar ${write('words')}`, language: 'en' },
    ...{ startedAt, endedAt: startedAt + 1_000, confidence: null, overlapMs: null },
    ...who,
  };
}

/** What programs with keys choose, and what the log keeps of their requests. */
async function placeBySettings({ client, put, views }: Placing): Promise<void> {
  const key = await put('key', (name) => client.keys.create({ name, scopes: ['read'] }));
  views.push(`/keys?open=${key?.id}`);
  const planId = `plan-${views.length}`;
  await put('plan', (text) =>
    client.plans.put(planId, {
      prefix: `planned-${views.length}-`,
      metadata: text,
      vocabulary: [text.slice(0, 60)],
    }),
  );
  views.push(`/plans?open=${planId}`);
  // Only the log of requests has these.
  await put('refused', (text) => client.rooms.delete(text));
}

/** The views that show lists, with what strangers chose in each. */
export const LISTS = [
  ...[
    '/overview',
    '/rooms',
    '/events',
    '/sessions',
    '/recordings',
    '/transcriptions',
    '/transcriptions/live',
  ],
  ...[
    '/transcriptions?words=zanzibar',
    '/webhooks',
    '/ingress',
    '/broadcasts',
    '/blocks',
    '/plans',
    '/usage',
  ],
  ...['/usage?by=room', '/keys', '/audit', '/doctor', '/fiscal'],
];

/** Addresses that a page of a stranger can lead to, with the text in every part that is read. */
export function reflect(text: string): readonly string[] {
  const encoded = encodeURIComponent(text);
  return [
    ...['', 'rooms/', 'sessions/', 'recordings/', 'transcriptions/', 'transcriptions/live/', 'webhooks/'],
    ...['explain/room/', 'explain/request/', 'explain/', 'x/y/'],
  ]
    .map((path) => `/${path}${encoded}`)
    .concat(
      ['text', 'room', 'open', 'do', 'status', 'request', 'words', 'prefix', 'event', 'type'].flatMap(
        (name) =>
          ['/rooms', '/events', '/audit', '/transcriptions', '/usage', '/keys'].map(
            (view) => `${view}?${name}=${encoded}`,
          ),
      ),
      `/#code=${encoded}`,
      `/rooms#${encoded}`,
    );
}
