import type { TextStreamReader } from '@livekit/rtc-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Segment } from '../../../../src/contract/transcription.ts';
import type { LogLine } from '../../../support/app.ts';
import type { JoinedParticipant } from '../../../support/parts/participant.ts';
import { speechRecordings } from '../../../support/parts/speech-model.ts';
import { isHeard, measuresAccuracy } from '../../../support/word-error-rate.ts';
import { register } from '../../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../../webhooks/support/receiver.ts';
import {
  type CallStage,
  listWords,
  SPOKEN,
  type StageWorker,
  startCallStage,
} from '../support/call-stage.ts';

/*
 * A room of the real LiveKit, participants who speak in it, the real model, and the worker as `rtc worker stt-live`
 * composes it.
 */

/** A sentence that the model recognises word for word with any of the synthesiser's voices. */
const CHILDREN = 'The children are playing in the garden behind the old house.';
const PASSPORT = 'Please remember to bring your passport and your ticket to the airport.';
const HOSPITAL = 'We are going to visit my grandmother in the hospital this afternoon.';

let stage: CallStage;
let receiver: Receiver;
let worker: StageWorker;
beforeAll(async () => {
  stage = await startCallStage();
  receiver = await startReceiver();
  await register(stage.service, receiver.url, ['transcription_completed']);
  worker = await stage.startWorker();
});
afterAll(async () => {
  await receiver?.close();
  await stage?.close();
});
/** Number of log lines that earlier tests wrote. */
let earlierLines = 0;
beforeEach(() => {
  earlierLines = worker.logLines.length;
});
/** Only the log shows speech that got no text. */
afterEach(() => {
  const lines = worker.logLines.slice(earlierLines);
  expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});

const readText = (segments: readonly Segment[], identity: string): string =>
  segments
    .filter(({ participantIdentity }) => participantIdentity === identity)
    .map(({ text }) => text)
    .join(' ');

const textOfBoth = (segments: readonly Segment[]): string =>
  `${readText(segments, 'ada')} ${readText(segments, 'bob')}`;

const wordsIn = (segments: readonly Segment[], identity: string): number =>
  readText(segments, identity)
    .split(/\s+/)
    .filter((word) => word !== '').length;

/** Most of a sentence of eleven or twelve words. */
const MOST_OF_A_SENTENCE = listWords(9);

/** Starts a transcription. Resolves when the worker listens, so that the first word is heard. */
const listening = async (body: object = {}): Promise<string> => {
  const room = await stage.newRoom();
  await stage.start(room, body);
  await stage.untilListening(room);
  return room;
};

type Shown = {
  readonly sender: string;
  readonly text: string;
  readonly segmentId: string | undefined;
  readonly trackId: string | undefined;
  readonly isFinal: boolean;
};

/** Returns the captions that a participant's client receives. */
const listCaptions = (viewer: JoinedParticipant): readonly Shown[] => {
  const shown: Shown[] = [];
  viewer.room.registerTextStreamHandler('lk.transcription', async (reader: TextStreamReader, sender) => {
    const { attributes = {} } = reader.info;
    // The reading fails if the speaker leaves before the end of the text.
    const text = await reader.readAll().catch(() => undefined);
    if (text === undefined) return;
    shown.push({
      sender: sender.identity,
      text,
      segmentId: attributes['lk.segment_id'],
      trackId: attributes['lk.transcribed_track_id'],
      isFinal: attributes['lk.transcription_final'] === 'true',
    });
  });
  return shown;
};

describe('a room that is transcribed during a call', () => {
  it('has the text of people who read aloud at the same time, each under the own name', SPOKEN, async () => {
    const { twoCities, beckett } = speechRecordings();
    const room = await listening();
    const [ada, bob] = await Promise.all([
      stage.enter(room, 'ada', 'Ada Lovelace'),
      stage.enter(room, 'bob'),
    ]);
    const files = await Promise.all([stage.reading(twoCities.path), stage.reading(beckett.path)]);
    const readings = await Promise.all([ada.publishWav(files[0] ?? ''), bob.publishWav(files[1] ?? '')]);
    await Promise.all(readings.map(({ played }) => played));
    const said = `${twoCities.text} ${beckett.text}`;
    const segments = await stage.untilSegments(
      room,
      (all) => isHeard(said, textOfBoth(all), 0.12) && readText(all, 'bob') !== '',
    );
    expect(new Set(segments.map(({ speaker }) => speaker))).toEqual(new Set(['Ada Lovelace', 'BOB']));
    expect(new Set(segments.map(({ trackId }) => trackId))).toEqual(new Set(readings.map(({ sid }) => sid)));
    for (const { start, end, text } of segments) {
      expect(end - start, text).toBeGreaterThan(0.3);
      expect(end - start, text).toBeLessThanOrEqual(8.001);
    }
    expect(segments.map(({ start }) => start)).toEqual(
      segments.map(({ start }) => start).toSorted((a, b) => a - b),
    );
  });

  it('shows captions during speech, as the words of the speaker', SPOKEN, async () => {
    const files = await Promise.all([stage.speech(CHILDREN), stage.speech(PASSPORT)]);
    const room = await listening({ options: { partialResults: true } });
    const [ada, bob, viewer] = await Promise.all(
      ['ada', 'bob', 'carol'].map((who) => stage.enter(room, who)),
    );
    if (ada === undefined || bob === undefined || viewer === undefined) throw new Error('nobody came');
    const shown = listCaptions(viewer);
    const voices = await Promise.all([ada.publishWav(files[0] ?? ''), bob.publishWav(files[1] ?? '')]);
    await Promise.all(voices.map(({ played }) => played));
    const said = `${CHILDREN} ${PASSPORT}`;
    const segments = await stage.untilSegments(room, (all) => isHeard(said, textOfBoth(all), 0.05));
    const stored = segments.map(({ id, participantIdentity, trackId, text }) => ({
      ...{ segmentId: id, sender: participantIdentity, trackId, text, isFinal: true },
    }));
    const finals = (): readonly Shown[] =>
      shown.filter(({ isFinal, segmentId }) => isFinal && segments.some(({ id }) => id === segmentId));
    await vi.waitUntil(() => finals().length >= stored.length, { timeout: 60_000 });
    expect(finals()).toHaveLength(stored.length);
    expect(finals()).toEqual(expect.arrayContaining(stored));
    const interims = shown.filter(({ isFinal }) => !isFinal);
    for (const { id } of segments) {
      const ofIt = interims.filter(({ segmentId }) => segmentId === id);
      const lengths = ofIt.map(({ text }) => text.length);
      // A busy machine leaves out interim results.
      if (measuresAccuracy) {
        expect(lengths.length, `interim results of ${id}`).toBeGreaterThan(1);
        expect(lengths.at(-1)).toBeGreaterThan(lengths[0] ?? 0);
      }
      const order = shown.filter(({ segmentId }) => segmentId === id).map(({ isFinal }) => isFinal);
      expect(order.at(-1), 'nothing comes after the final').toBe(true);
      expect(order.slice(0, -1)).not.toContain(true);
    }
    await expect.poll(async () => (await stage.read(room)).segments.every(({ final }) => final)).toBe(true);
  });

  it(
    'has nothing of a muted track, continues when it is unmuted, with the new name of its speaker',
    SPOKEN,
    async () => {
      const [before, during, after] = await Promise.all(
        [CHILDREN, PASSPORT, HOSPITAL].map((text) => stage.speech(text)),
      );
      const room = await listening();
      const ada = await stage.enter(room, 'ada', 'Ada');
      const first = await ada.publishWav(before ?? '');
      await first.played;
      await stage.untilSegments(room, (all) => wordsIn(all, 'ada') >= MOST_OF_A_SENTENCE);
      const muted = await ada.publishWav(during ?? '');
      await stage.rooms.mutePublishedTrack(room, 'ada', muted.sid, true);
      await muted.played;
      await stage.rooms.updateParticipant(room, 'ada', { name: 'Countess Lovelace' });
      const third = await ada.publishWav(after ?? '');
      await third.played;
      const said = `${CHILDREN} ${HOSPITAL}`;
      const segments = await stage.untilSegments(
        room,
        (all) =>
          isHeard(said, readText(all, 'ada'), 0.25) && all.some(({ trackId }) => trackId === third.sid),
      );
      expect(readText(segments, 'ada')).not.toMatch(/passport|ticket|airport/);
      expect(segments[0]?.speaker).toBe('Ada');
      expect(segments.at(-1)?.speaker).toBe('Countess Lovelace');
    },
  );

  it(
    'has the last words of a participant who leaves during them, and continues after the return',
    SPOKEN,
    async () => {
      const [meeting, weather] = await Promise.all([CHILDREN, HOSPITAL].map((text) => stage.speech(text)));
      const room = await listening({ options: { partialResults: true } });
      const shown = listCaptions(await stage.enter(room, 'zoe'));
      const ada = await stage.enter(room, 'ada');
      await ada.publishWav(meeting ?? '');
      // For fewer words, cut off within a word, the model's text is arbitrary.
      const few = listWords(7);
      await vi.waitUntil(() => shown.some(({ text }) => text.split(' ').length >= few), { timeout: 60_000 });
      await ada.leave();
      const left = await stage.untilSegments(room, (all) => readText(all, 'ada') !== '');
      expect(wordsIn(left, 'ada')).toBeGreaterThanOrEqual(few);
      const again = await stage.enter(room, 'ada');
      const voice = await again.publishWav(weather ?? '');
      await voice.played;
      const isBack = ({ trackId }: Segment): boolean => trackId === voice.sid;
      await stage.untilSegments(room, (all) => isHeard(HOSPITAL, readText(all.filter(isBack), 'ada'), 0.25));
    },
  );

  it('applies the requested options: no punctuation, no profanity', SPOKEN, async () => {
    const file = await stage.speech('My brother says that this is fucking wonderful news.');
    const room = await listening({ options: { punctuation: false, profanityFilter: true } });
    const ada = await stage.enter(room, 'ada');
    await (await ada.publishWav(file)).played;
    const said = 'my brother says that this is f****** wonderful news';
    const segments = await stage.untilSegments(room, (all) => isHeard(said, readText(all, 'ada'), 0.25));
    const text = readText(segments, 'ada');
    expect(text).toMatch(/^[a-z' *]+$/);
    expect(text).not.toContain('fuck');
    if (measuresAccuracy) expect(text).toMatch(/^[a-z' ]+ f\*{6} [a-z' ]+$/);
  });
});

describe('the end of a live transcription', () => {
  const isEnding = ({ message, fields }: LogLine, transcriptionId: string): boolean =>
    message.startsWith('left the room') && fields.transcriptionId === transcriptionId;
  const listCompleted = (room: string) =>
    receiver.received.filter(({ body }) => body.room?.name === room).map(({ body }) => body);

  it('follows a stop: the agent leaves, and the count is exact', SPOKEN, async () => {
    const file = await stage.speech(`${CHILDREN} ${PASSPORT} ${HOSPITAL}`);
    const room = await listening();
    const ada = await stage.enter(room, 'ada');
    const voice = await ada.publishWav(file);
    await stage.untilSegments(room, (all) => all.length > 0);
    const stopped = await stage.stop(room);
    await stage.untilListening(room, false);
    await vi.waitUntil(() => listCompleted(room).length > 0, { timeout: 60_000 });
    // The participants continue to speak, but no worker listens.
    await voice.played;
    const read = await stage.read(room);
    expect(read.status).toBe('stopped');
    expect(read.segments).toHaveLength(stopped.segmentCount);
    expect(listCompleted(room)).toHaveLength(1);
    expect(listCompleted(room)[0]).toMatchObject({
      transcription: { transcriptionId: stopped.transcriptionId, segmentCount: stopped.segmentCount },
    });
    const next = await stage.start(room);
    expect(next.transcriptionId).not.toBe(stopped.transcriptionId);
    await stage.untilListening(room);
  });

  it('follows the end of the room, which is not opened again', SPOKEN, async () => {
    const file = await stage.speech(CHILDREN);
    const room = await listening();
    const ada = await stage.enter(room, 'ada');
    await (await ada.publishWav(file)).played;
    await stage.untilSegments(room, (all) => wordsIn(all, 'ada') >= MOST_OF_A_SENTENCE);
    const transcription = await stage.read(room);
    await stage.rooms.deleteRoom(room);
    await vi.waitUntil(() => listCompleted(room).length > 0, { timeout: 60_000 });
    await vi.waitUntil(
      () => worker.logLines.some((line) => isEnding(line, transcription.transcriptionId)),
      20_000,
    );
    const { status, segments, transcriptionId } = await stage.read(room);
    expect(status).toBe('stopped');
    expect(listCompleted(room)).toHaveLength(1);
    expect(listCompleted(room)[0]).toMatchObject({
      transcription: { transcriptionId, segmentCount: segments.length },
    });
    expect(await stage.rooms.listRooms([room])).toEqual([]);
    await stage.service.call('DELETE', `/v1/transcriptions/${transcriptionId}`);
    expect((await stage.service.call('GET', `/v1/rooms/${room}/transcription`)).status).toBe(404);
  });
});
