import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { RoomEvent } from '@livekit/rtc-node';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAdmission, readClosing } from '../../src/client/index.ts';
import type { Event } from '../../src/contract/events.ts';
import { startHttpServer, type TestHttpServer } from '../cli/support/http-server.ts';
import { collectErrors, startBrowser, type TestBrowser } from '../support/parts/browser.ts';
import { startFfmpeg } from '../support/parts/ffmpeg.ts';
import { createMigratedDatabase } from '../support/parts/migrated-database.ts';
import '../support/parts/livekit.ts';
import { type JoinedParticipant, join as joinRoom } from '../support/parts/participant.ts';
import '../support/parts/redis.ts';
import { freePort, type RunningPart } from '../support/parts/run-part.ts';
import { speechRecordings } from '../support/parts/speech-model.ts';
import { joinCall, openConsole, openLink, openView, readView } from './support/console.ts';
import { type Dev, startDev } from './support/dev.ts';
import { expectNothing, openSchool, ROOM, type School } from './support/school.ts';

/*
 * A lesson of a school, from its plan to its bill, with real parts: LiveKit and its recorder, the speech model, two pupils, a
 * teacher in a browser, a receiver of RTMP and a player of HLS. Another school uses the same service.
 */

const POLL = { timeout: 120_000, interval: 100 };
const LESSON_MS = 600_000;
/** What the teacher's microphone hears. */
const SAID = /tried|fail|matter|again/i;
const PLAN = ['plans', 'set', 'lessons', '--prefix', 'lesson-', '--lobby'];
const STARTS = ['--record', 'role:host', '--transcribe', 'role:host'];

const exec = promisify(execFile);

describe.each(['SQLite', 'PostgreSQL'] as const)('a lesson of a school, on %s', (engine) => {
  let dev: Dev;
  let school: School;
  let other: School;
  let browser: TestBrowser;
  let teacher: Page;
  let closings: number[];
  let rtmp: RunningPart;
  let film: string;
  const closers: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const home = await mkdtemp(join(tmpdir(), 'rtc-school-'));
    closers.push(() => rm(home, { recursive: true, force: true }));
    const argv = ['--media', 'livekit', '--with', 'stt-live'];
    const settings: Record<string, string> = {};
    if (engine === 'PostgreSQL') {
      const database = await createMigratedDatabase();
      closers.push(() => database.close());
      settings.DATABASE_URL = database.url;
      settings.ENCRYPTION_KEY = randomBytes(32).toString('base64');
    }
    dev = await startDev({ home, argv, settings });
    closers.push(() => stop(dev));
    browser = await startBrowser({ microphone: speechRecordings().beckett.path });
    closers.push(() => browser.close());
    school = await openSchool(dev, 'lesson-');
    other = await openSchool(dev, 'evening-');
    closers.push(school.close, other.close);
    film = join(home, 'film.flv');
  }, LESSON_MS);

  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  }, LESSON_MS);

  it(
    'lets pupils wait until the teacher admits one, and records and transcribes by itself',
    async () => {
      await school.rtc([...PLAN, '--max-duration', '1h', ...STARTS]);
      const pupils = [await ask(school, 'ben'), await ask(school, 'eve')];
      closers.push(...pupils.map(({ leave }) => leave));
      const admission = untilAdmitted(pupils[0]);
      expect(await school.rtc(['rooms', 'waiting', ROOM])).toMatch(/ben\t.*\neve\t/);
      const seat = ['rooms', 'open', ROOM, '--as', 'rossi', '--name', 'Anna Rossi', '--print'];
      const link = await openLink(seat, school.environment);
      closers.push(link.close);
      teacher = await (await browser.openWindow()).newPage();
      teacher.setDefaultTimeout(POLL.timeout);
      const errors = collectErrors(teacher);
      await teacher.goto(link.link);
      await joinCall(teacher);
      await school.receiver.waitFor(({ body }) => body.event === 'participant_joined', 1, POLL.timeout);
      await teacher.getByText('Ben and one other wait to be let in.').waitFor();
      await teacher.getByRole('button', { name: 'People 2 waiting' }).click();
      await teacher.getByRole('button', { name: 'Admit Ben' }).click();
      const { url, token } = await admission;
      const ben = await joinRoom(url, token);
      closers.push(ben.leave);
      closings = watchClosings(ben);
      await teacher.getByRole('button', { name: 'Captions' }).click();
      await teacher.getByRole('region', { name: 'Captions' }).getByText(SAID).first().waitFor();
      const isFilmed = async () => (await school.client.recordings.status(ROOM)).mediaStartedAt !== null;
      if (dev.hasRecorder) await expect.poll(isFilmed, POLL).toBe(true);
      else
        await school.receiver.waitFor(({ body }) => body.event === 'planned_start_failed', 1, POLL.timeout);
      const present = (await school.client.participants.list(ROOM)).participants;
      expect(present.map(({ identity }) => identity)).toEqual(['ben', 'rossi']);
      expect(await expectNothing(other, school)).toContain('listRooms');
      expect(errors).toEqual([]);
    },
    LESSON_MS,
  );

  it(
    'is broadcast to a receiver of RTMP, and as HLS that a browser plays',
    async ({ skip }) => {
      if (!dev.hasRecorder) skip("LiveKit's recorder is not on this machine");
      const url = `rtmp://127.0.0.1:${await freePort()}/live/stream-key-of-the-school`;
      rtmp = startFfmpeg(['-listen', '1', '-i', url, '-c', 'copy', film]);
      closers.push(rtmp.close);
      await school.rtc(['broadcast', 'start', ROOM, '--hls', '--url-stdin'], url);
      const states = async () =>
        (await school.client.broadcasts.status(ROOM)).broadcast?.urls.map(({ state }) => state);
      await expect.poll(states, POLL).toEqual(['active']);
      const { broadcast } = await school.client.broadcasts.status(ROOM);
      const folder = broadcast?.hls?.folder ?? '';
      const player = await startPlayer(folder);
      closers.push(player.close);
      await expect.poll(() => countSegments(join(folder, 'live.m3u8')), POLL).toBe(SEGMENTS_OF_LIVE);
      const window = await browser.openWindow();
      await play(await window.newPage(), `${player.url}/live.m3u8`);
      await window.close();
    },
    LESSON_MS,
  );

  it(
    'warns everybody, and ends for everybody',
    async () => {
      await school.rtc([...PLAN, ...STARTS, '--closes-at', '15s', '--closing-warnings', '10s,5s']);
      await teacher.getByText(/This call ends in 1 minute/).waitFor();
      await teacher.getByRole('heading', { name: 'The time of this call is over.' }).waitFor();
      expect(closings).toEqual([10, 5]);
      const ends = ['room_finished', 'transcription_completed', ...(dev.hasRecorder ? ENDS_OF_MEDIA : [])];
      const arrived = () =>
        ends.filter((end) => school.receiver.received.some(({ body }) => body.event === end));
      await expect.poll(arrived, POLL).toEqual(ends);
      if (!dev.hasRecorder) return;
      expect(await rtmp.exited).toBe(0);
      for (const media of ['video', 'audio']) expect(await probe(film, media)).toBeGreaterThan(1);
    },
    LESSON_MS,
  );

  it('is told in order by one webhook', async () => {
    const story = school.receiver.received.map(({ body }) => body as Event);
    const told = story.map(tell);
    const numbers = story.flatMap(({ sequence }) => sequence ?? []);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const people = told.filter((event) => /^(room|participant)/.test(event));
    // LiveKit disconnects everybody at once.
    expect([...people.slice(0, -3), ...people.slice(-3, -1).toSorted(), ...people.slice(-1)]).toEqual(STORY);
    const find = (event: string) => told.indexOf(event);
    expect(find('transcription_completed')).toBeGreaterThan(find('room_closing 0'));
    const start = dev.hasRecorder ? 'egress_started' : 'planned_start_failed';
    expect(find(start)).toBeGreaterThan(find('participant_joined rossi'));
    if (!dev.hasRecorder) return;
    for (const end of ENDS_OF_MEDIA) expect(find(end), end).toBeGreaterThan(find('room_closing 0'));
  });

  it('is explained by the command and shown by the console', async () => {
    const explained = await school.rtc(['explain', ROOM]);
    const recording = dev.hasRecorder ? 'is complete' : 'could not start the recording';
    for (const what of [
      'rossi (Anna Rossi) joined as host',
      'ben (Ben) was admitted',
      'closed by its plan',
      recording,
    ])
      expect(explained).toContain(what);
    const console_ = await openConsole(school.connection);
    closers.push(console_.close);
    const { window, page } = await openView(browser, console_);
    const errors = collectErrors(page);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('link', { name: ROOM }).click();
    const lanes = page.getByRole('list', { name: 'Who was there when' }).getByRole('listitem');
    for (const name of ['Anna Rossi', 'Ben']) await lanes.filter({ hasText: name }).waitFor();
    await page.getByRole('link', { name: 'What happened?' }).click();
    await page.getByText('ben (Ben) was admitted').waitFor();
    await page.goto(readView(console_, '/broadcasts'));
    if (dev.hasRecorder) await page.getByRole('table', { name: 'Broadcasts' }).getByText('stopped').waitFor();
    await page.goto(readView(console_, '/usage?by=room'));
    await page.getByRole('table', { name: 'Usage' }).getByText(ROOM).waitFor();
    expect(errors).toEqual([]);
    await window.close();
  });

  it('is counted as the times of its events', async () => {
    const { usage } = JSON.parse(await school.rtc(['usage', '--by', 'room', '--json']));
    const events = school.receiver.received.map(({ body }) => body as Event);
    expect(usage).toMatchObject([{ group: ROOM, ...measure(events) }]);
  });

  it('is nothing that another school sees', async () => {
    const found = await expectNothing(other, school);
    expect(found).toEqual(expect.arrayContaining([...LISTS, ...(dev.hasRecorder ? LISTS_OF_MEDIA : [])]));
  });
});

/** Ends what `rtc dev` runs, like Ctrl-C. */
async function stop({ started }: Dev): Promise<void> {
  started.child.kill('SIGINT');
  await started.ended;
}

/** Lets a pupil come to the lesson, who has to wait. */
async function ask({ client }: School, userId: string): Promise<JoinedParticipant> {
  const name = `${userId[0]?.toUpperCase()}${userId.slice(1)}`;
  const { url, token, waiting } = await client.tokens.create({
    roomId: ROOM,
    userId,
    name,
    role: 'participant',
  });
  expect(waiting).toBe(true);
  return await joinRoom(url, token);
}

/** Resolves to the token of the room, which whoever waits gets as data. */
function untilAdmitted(
  pupil: JoinedParticipant | undefined,
): Promise<{ readonly url: string; readonly token: string }> {
  return new Promise((resolve) => {
    pupil?.room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
      const admission = readAdmission(payload, { topic, participant });
      if (admission !== undefined) resolve(admission);
    });
  });
}

/** Collects the seconds that are left, of each warning. */
function watchClosings({ room }: JoinedParticipant): number[] {
  const seconds: number[] = [];
  room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
    const closing = readClosing(payload, { topic, participant });
    if (closing !== undefined) seconds.push(closing.secondsLeft);
  });
  return seconds;
}

const TYPES: Readonly<Record<string, string>> = {
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.ts': 'video/mp2t',
};

/** Serves the files of a broadcast, as a web server of the school does, and a page to play them. */
async function startPlayer(folder: string): Promise<TestHttpServer> {
  return await startHttpServer(async ({ url }, response) => {
    if (url === '/') return void response.setHeader('content-type', 'text/html').end('<video muted></video>');
    const bytes = await readFile(join(folder, url.slice(1))).catch(() => undefined);
    const type = TYPES[extname(url)] ?? 'application/octet-stream';
    response.writeHead(bytes ? 200 : 404, { 'content-type': type, 'cache-control': 'no-store' }).end(bytes);
  });
}

/** The playlist is full then. Chromium's own player gives one up that it has loaded wholly and that has not grown meanwhile. */
const SEGMENTS_OF_LIVE = 5;

async function countSegments(playlist: string): Promise<number> {
  return (await readFile(playlist, 'utf8').catch(() => '')).split('#EXTINF').length - 1;
}

/** Plays until more than a second has been shown. */
async function play(page: Page, playlist: string): Promise<void> {
  await page.goto(new URL('/', playlist).href);
  const shown = `document.querySelector('video')`;
  const start = `((video) => { video.src = ${JSON.stringify(playlist)}; return video.play().then(() => 'plays', String); })(${shown})`;
  await expect.poll(() => page.evaluate(start), POLL).toBe('plays');
  const from = Number(await page.evaluate(`${shown}.currentTime`));
  const seconds = async () => Number(await page.evaluate(`${shown}.currentTime`)) - from;
  await expect.poll(seconds, POLL).toBeGreaterThan(1);
}

/** Resolves to the length in seconds of the first track of that kind. */
async function probe(file: string, kind: string): Promise<number> {
  const entries = ['-select_streams', `${kind[0]}:0`, '-show_entries', 'packet=pts_time', '-of', 'csv=p=0'];
  const { stdout } = await exec('ffprobe', ['-v', 'error', ...entries, file], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const times = stdout.trim().split('\n').map(Number.parseFloat);
  return Math.max(...times) - Math.min(...times);
}

const STORY = [
  ...['participant_waiting ben', 'participant_waiting eve', 'room_created', 'room_started'],
  ...['participant_joined rossi', 'participant_admitted ben', 'participant_joined ben'],
  ...['room_closing 10', 'room_closing 5', 'room_closing 0'],
  ...['participant_left ben', 'participant_left rossi', 'room_finished closes_at'],
];
/** The lists in which the lesson is for its own school. */
const LISTS = [
  ...['listEvents', 'listSessions', 'listPlans', 'searchTranscripts'],
  ...['getUsage', 'listAudit'],
];
const LISTS_OF_MEDIA = ['listRecordings', 'listBroadcasts'];

const ENDS_OF_MEDIA = ['egress_ended', 'broadcast_ended'];

function tell({ event, participant, closing, closeReason }: Event): string {
  return [event, participant?.identity, closing?.secondsLeft, closeReason]
    .filter((word) => word !== undefined)
    .join(' ');
}

/** Measures the lesson by the times of its events. */
function measure(events: readonly Event[]) {
  const minutes = (ms: number): number => Math.round(ms / 600) / 100;
  const between = (from = '', to = ''): number => Date.parse(to) - Date.parse(from);
  const left = events.flatMap((event) => (event.event === 'participant_left' ? [event] : []));
  const ended = events.find(({ event }) => event === 'room_finished');
  const started = events.find(({ event }) => event === 'room_started');
  const recording = events.find(({ event }) => event === 'egress_ended')?.recording;
  const { startedAt, stoppedAt } =
    events.find(({ event }) => event === 'transcription_completed')?.transcription ?? {};
  return {
    participantMinutes: minutes(
      left.reduce((sum, { participant, timestamp }) => sum + between(participant.joinedAt, timestamp), 0),
    ),
    roomMinutes: minutes(between(started?.timestamp, ended?.room?.endedAt)),
    recordedMinutes: minutes(recording?.durationMs ?? 0),
    transcribedMinutes: minutes(between(startedAt ?? '', stoppedAt ?? '')),
    recordingBytes: recording?.sizeBytes ?? 0,
    peakParticipants: 2,
    isFinal: expect.any(Boolean),
  };
}
