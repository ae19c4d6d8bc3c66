import { copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { vi } from 'vitest';
import { RtcClient } from '../../../src/client/client.ts';
import { loadConfig } from '../../../src/server/app/config/config.ts';
import { openStore } from '../../../src/server/app/create-store.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { startWorker } from '../../../src/server/worker.ts';
import { type Stack, startStack } from '../../cli/support/stack.ts';
import { makeMediaFiles } from '../../server/transcription/audio/media-files.ts';
import { segment } from '../../server/transcription/support/transcription-stage.ts';
import { failPending } from '../../server/webhooks/support/fail-pending.ts';
import { LOOPBACK_ALLOWED } from '../../server/webhooks/support/hooked-service.ts';
import { respondWith, startReceiver } from '../../server/webhooks/support/receiver.ts';
import { collectingLog } from '../../support/app.ts';
import type { TestBrowser } from '../../support/parts/browser.ts';
import { testSpeech } from '../../support/test-speech.ts';

/** A service with examples of everything: rooms, participants, a recording, captions, a failing receiver. */
export type Showcase = {
  readonly stack: Stack;
  readonly client: RtcClient;
  readonly webhookId: string;
  readonly recordingId: string;
  /** A session that was recorded, with participants who joined and left. */
  readonly sessionId: string;
  readonly close: () => Promise<void>;
};

const WAIT = { timeout: 60_000, interval: 50 };

const ROOMS = ['weekly-review', 'customer-call', 'all-hands', 'interview-ada', 'night-shift', 'classroom-7'];
const PEOPLE = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson', 'Linus Torvalds'];
const SENTENCES = [
  'Good morning, everybody. Shall we begin with the figures of the last quarter?',
  'Yes. The migration is finished, and the new cluster carries all of the traffic.',
  'How did the recordings behave while it was moved?',
  'None was lost. Two of them started a few seconds late, and both are complete.',
];

const FACES = ['ada', 'grace', 'alan', 'katherine'];
const FILM_SECONDS = 20;

/** Four drawn people, with a tone of two seconds at 0, 5, 10 and 15. Each tone is a sentence. */
const FILM = [
  ...['-f', 'lavfi', '-i', 'aevalsrc=if(lt(mod(t\\,5)\\,2)\\,0.4*sin(440*2*PI*t)\\,0)'],
  ...['-filter_complex', 'xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0:fill=black'],
  ...[
    '-t',
    `${FILM_SECONDS}`,
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-pix_fmt',
    'yuv420p',
    '-c:a',
    'aac',
  ],
  ...['-movflags', '+faststart'],
];

export async function startShowcase(browser: TestBrowser): Promise<Showcase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'rtc-showcase-'));
  const stack = await startStack({ environment: { ...LOOPBACK_ALLOWED, DATA_DIR: dataDir } });
  const client = new RtcClient(stack.service);
  const receiver = await startReceiver();
  const store = await openStore({
    database: { sqlitePath: join(dataDir, 'rtc.sqlite') },
    clock: systemClock,
    log: collectingLog([]),
  });
  const { id: webhookId } = await client.webhooks.create({ url: `${receiver.url}/hooks/rtc` });
  await openRooms(stack, client);
  await leaveTraces(stack, client);
  await client.participants.remove('all-hands', 'mallory', { block: 86_400 });
  receiver.behave(respondWith(503, 'the database is being moved'));
  await stack.media.control.join('night-shift', { identity: 'guest', name: 'A late guest' });
  await vi.waitUntil(async () => {
    const { deliveries } = await client.deliveries.list(webhookId, { status: 'pending' });
    return deliveries.some(({ attempts }) => attempts.length > 0);
  }, WAIT);
  await failPending(dataDir);
  stack.media.control.leave('weekly-review', 'grace');
  await stack.media.control.join('weekly-review', { identity: 'alan', name: 'Alan Turing' });
  await stack.media.control.join('classroom-7', { identity: 'teacher', name: 'Maria Montessori' });
  await client.webhooks.create({ url: 'https://example.org/hooks/rtc', events: ['room_finished'] });
  await speak(store, client);
  await stack.media.control.join('weekly-review', { identity: 'grace', name: 'Grace Hopper' });
  const faces = await drawFaces(browser, { page: `${stack.service.url}/docs`, folder: dataDir });
  const recordingId = await record(client, { dataDir, recordingDir: stack.recordingDir, faces });
  stack.media.control.leave('weekly-review', 'alan');
  await addKeysAndPlans(client);
  const [session] = (await client.sessions.list({ roomId: 'weekly-review' })).sessions;
  return {
    stack,
    client,
    webhookId,
    recordingId,
    sessionId: session?.sessionId ?? '',
    close: async () => {
      await client.close();
      await store.close();
      await stack.close();
      await receiver.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function addKeysAndPlans(client: RtcClient): Promise<void> {
  const limits = { rooms: 20, minutesPerMonth: 100_000 };
  await client.keys.create({ name: 'Acme school', scopes: ['admin'], rooms: ['acme-'], limits });
  await client.keys.create({ name: 'booking back end', scopes: ['tokens', 'read'] });
  await client.plans.put('lessons', { prefix: 'acme-lesson-', maxDuration: 3600, soloTimeout: 600 });
  await client.plans.put('visit', {
    room: 'visit-7',
    opensAt: '2099-01-31T09:00:00.000Z',
    closesAt: '2099-01-31T09:30:00.000Z',
  });
  await client.broadcasts.start('all-hands', { hls: {} });
}

async function openRooms({ media }: Stack, client: RtcClient): Promise<void> {
  for (const [index, name] of ROOMS.entries()) {
    await client.rooms.create({ name, ...(index === 2 ? { maxParticipants: 200 } : {}) });
    for (const person of PEOPLE.slice(0, 1 + ((index * 2) % PEOPLE.length))) {
      const identity = person.split(' ')[0]?.toLowerCase() ?? '';
      const attributes = { 'rtc.role': identity === 'ada' ? 'host' : 'participant' };
      await media.control.join(name, { identity, name: person, attributes });
      await media.control.publish(name, identity);
    }
  }
}

/** Makes a session that has ended, and requests that were refused. */
async function leaveTraces({ media }: Stack, client: RtcClient): Promise<void> {
  await media.control.join('weekly-review', { identity: 'grace', name: 'Grace Hopper' });
  await media.control.join('monday-stand-up', { identity: 'linus', name: 'Linus Torvalds' });
  await client.rooms.delete('monday-stand-up');
  await client.rooms.delete('yesterday').catch(() => undefined);
  await vi.waitUntil(async () => {
    const { sessions } = await client.sessions.list({ status: 'ended' });
    return sessions.length > 0;
  }, WAIT);
}

async function speak(store: Awaited<ReturnType<typeof openStore>>, client: RtcClient): Promise<void> {
  const now = Date.now();
  const beat = { kind: 'stt-live', workerId: 'one', languages: ['en'], failedModels: [] } as const;
  await store.transcriptions.beat({ ...beat, aliveUntil: now + 3_600_000 });
  const { transcriptionId } = await client.transcription.start('weekly-review');
  const owner = 'the showcase';
  const leaseUntil = now + 3_600_000;
  await store.transcriptions.claimLive({ owner, now, leaseUntil, limit: 100, supports: () => true });
  const said = SENTENCES.map((text, index) => {
    const [identity, name] = index % 2 === 0 ? ['ada', 'Ada Lovelace'] : ['grace', 'Grace Hopper'];
    const times = { startedAt: now + index * 5_000, endedAt: now + index * 5_000 + 2_000 };
    return segment(`seg_${index}`, { text, identity, name, trackId: `TR_${identity}`, ...times });
  });
  await store.transcriptions.addSegments(transcriptionId, owner, said);
}

type Drawing = { readonly page: string; readonly folder: string };

/** Draws what the cameras of support/avatars.js show, and returns the files. */
async function drawFaces(
  browser: TestBrowser,
  { page: address, folder }: Drawing,
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const face of FACES) {
    const window = await browser.openWindow();
    await window.addInitScript(`globalThis.avatar = '${face}'`);
    await window.addInitScript({ path: join(import.meta.dirname, 'avatars.js') });
    const page = await window.newPage();
    await page.goto(address);
    const file = join(folder, `${face}.png`);
    await writeFile(file, Buffer.from(await page.evaluate<string>(TAKE), 'base64'));
    files.push(file);
    await window.close();
  }
  return files;
}

/** Runs in the page: one picture of the camera, in base64. */
const TAKE = `(async () => {
  const video = Object.assign(document.createElement('video'), { muted: true });
  video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
  await video.play();
  const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
  canvas.getContext('2d').drawImage(video, 0, 0);
  return canvas.toDataURL('image/png').split(',')[1];
})()`;

type Folders = {
  readonly dataDir: string;
  readonly recordingDir: string;
  readonly faces: readonly string[];
};

async function record(client: RtcClient, { dataDir, recordingDir, faces }: Folders): Promise<string> {
  const media = await makeMediaFiles();
  const cameras = faces.flatMap((face) => ['-loop', '1', '-framerate', '10', '-i', face]);
  const film = await media.make('film.mp4', [...cameras, ...FILM]);
  await client.recordings.start('weekly-review');
  await vi.waitUntil(async () => (await client.recordings.status('weekly-review')).isRecording, WAIT);
  const { egressId } = await client.recordings.stop('weekly-review');
  await vi.waitUntil(async () => (await client.recordings.get(egressId)).file !== null, WAIT);
  await copyFile(film, (await client.recordings.get(egressId)).file?.path ?? '');
  // The embedded recorder wrote a second of silence.
  const { size } = await stat(film);
  const database = new DatabaseSync(join(dataDir, 'rtc.sqlite'));
  database.prepare('UPDATE recordings SET durationMs = ?, sizeBytes = ?').run(FILM_SECONDS * 1000, size);
  database.close();
  await media.remove();
  const left = [...SENTENCES];
  const settings = { API_KEY: 'k', API_SECRET: 's', DATA_DIR: dataDir, RECORDING_DIR: recordingDir };
  const worker = await startWorker(loadConfig(settings), {
    ...{ log: collectingLog([]), clock: systemClock, ids: systemIds, kind: 'stt-post' },
    speech: testSpeech({ recognise: () => left.shift() ?? '' }),
  });
  const { transcriptionId } = await client.transcriptions.create(egressId);
  await vi.waitUntil(
    async () => (await client.transcriptions.get(transcriptionId)).status === 'completed',
    WAIT,
  );
  await worker.close();
  await client.recordings.start('customer-call');
  return egressId;
}
