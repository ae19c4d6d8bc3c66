import { kill } from 'node:process';
import type { TextStreamReader } from '@livekit/rtc-node';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Segment } from '../../../../src/contract/transcription.ts';
import { testSpeech } from '../../../support/test-speech.ts';
import { measuresAccuracy } from '../../../support/word-error-rate.ts';
import { type CallStage, listWords, SPOKEN, startCallStage } from '../support/call-stage.ts';
import { readProblem } from '../support/transcription-stage.ts';

/* Workers start and stop while people speak in a room of the real LiveKit. */

const CHILDREN = 'The children are playing in the garden behind the old house.';
const HOSPITAL = 'We are going to visit my grandmother in the hospital this afternoon.';

let stage: CallStage;
beforeAll(async () => {
  stage = await startCallStage();
});
afterAll(async () => {
  await stage?.close();
});
afterEach(() => stage.dismissWorkers());

/** Most of a sentence of eleven or twelve words. */
const MOST_OF_A_SENTENCE = listWords(9);
const wordsIn = (segments: readonly Segment[]): number =>
  segments.flatMap(({ text }) => text.split(/\s+/)).filter((word) => word !== '').length;

const isWorking = async (): Promise<boolean> => {
  const { json } = await stage.service.call('GET', '/v1/health');
  return (json as { readonly capabilities: { readonly transcriptionLive: boolean } }).capabilities
    .transcriptionLive;
};

describe('a live worker', () => {
  it('is replaced when it is killed, and stored segments are kept', SPOKEN, async () => {
    const [first, second] = await Promise.all([stage.speech(CHILDREN), stage.speech(HOSPITAL)]);
    const killed = await stage.startWorkerProcess();
    const room = await stage.newRoom();
    const { transcriptionId } = await stage.start(room);
    await stage.untilListening(room);
    const ada = await stage.enter(room, 'ada');
    await (await ada.publishWav(first)).played;
    const before = await stage.untilSegments(room, (all) => wordsIn(all) >= MOST_OF_A_SENTENCE);
    const sidOfAgent = async () =>
      (await stage.rooms.listParticipants(room)).find(({ identity }) => identity.startsWith('stt-live-'))
        ?.sid;
    const killedSid = await sidOfAgent();

    const successor = await stage.startWorkerProcess();
    kill(killed.pid(), 'SIGKILL');
    await vi.waitUntil(async () => ![undefined, killedSid].includes(await sidOfAgent()), {
      timeout: 60_000,
      interval: 50,
    });
    await (await ada.publishWav(second)).played;
    const after = await stage.untilSegments(
      room,
      (all) => wordsIn(all) >= wordsIn(before) + MOST_OF_A_SENTENCE,
    );
    expect(after.slice(0, before.length)).toEqual(before);
    expect(new Set(after.map((one) => one.transcriptionId))).toEqual(new Set([transcriptionId]));
    expect((await stage.stop(room)).segmentCount).toBe(after.length);
    await successor.close();
  });

  it('writes only its own log lines, and no text that is spoken or written in the room', SPOKEN, async () => {
    const worker = await stage.startWorkerProcess();
    const room = await stage.newRoom();
    const ada = await stage.enter(room, 'ada');
    await stage.start(room);
    await stage.untilListening(room);
    await ada.room.localParticipant?.sendText('between us', { topic: 'lk.chat' });
    await (await ada.publishWav(await stage.speech(CHILDREN))).played;
    await stage.untilSegments(room, (all) => wordsIn(all) >= MOST_OF_A_SENTENCE);
    await stage.stop(room);
    await stage.untilListening(room, false);
    await worker.close();
    const lines = worker.output().trim().split('\n').slice(1);
    expect(lines.filter((line) => !line.startsWith('{"level":"info"'))).toEqual([]);
    expect(worker.output()).toContain('"left the room"');
    expect(worker.output()).not.toMatch(/between us|children|ada\b/i);
  });

  it('stores its last utterances and releases its rooms at once when it is stopped', SPOKEN, async () => {
    const file = await stage.speech(`${CHILDREN}`);
    const leaving = await stage.startWorker();
    const room = await stage.newRoom();
    await stage.start(room);
    await stage.untilListening(room);
    const ada = await stage.enter(room, 'ada');
    const voice = await ada.publishWav(file);
    await voice.played;
    const staying = await stage.startWorker();
    const leaver = stage.leaseOwner(room);
    await leaving.close();
    expect(leaver).not.toBeNull();
    expect(stage.leaseOwner(room)).not.toBe(leaver);
    expect(wordsIn((await stage.read(room)).segments)).toBeGreaterThanOrEqual(MOST_OF_A_SENTENCE);
    await stage.untilListening(room);
    await stage.stop(room);
    await staying.close();
  });

  it('is not needed to read, stop and delete a transcription', {
    timeout: 60_000,
  }, async () => {
    const worker = await stage.startWorker(testSpeech());
    await vi.waitUntil(isWorking, 60_000);
    const room = await stage.newRoom();
    const { transcriptionId } = await stage.start(room);
    await stage.untilListening(room);
    const ada = await stage.enter(room, 'ada');
    await (await ada.publishWav(await stage.speech(CHILDREN))).played;
    const segments = await stage.untilSegments(room, (all) => all.length > 0);
    await worker.close();
    await stage.untilListening(room, false);
    await vi.waitUntil(async () => !(await isWorking()), 60_000);

    const other = await stage.newRoom();
    const refused = await stage.service.call('POST', `/v1/rooms/${other}/transcription/start`, { body: {} });
    expect(readProblem(refused)).toMatchObject({
      status: 503,
      code: 'addon-unavailable',
      detail: expect.stringContaining('stt-live'),
    });
    expect((await stage.read(room)).segments).toEqual(segments);
    expect((await stage.stop(room)).segmentCount).toBe(segments.length);
    const deleted = await stage.service.call('DELETE', `/v1/transcriptions/${transcriptionId}`);
    expect(deleted.status).toBe(204);
  });

  it('shares rooms with other workers, and leaves them the languages that it does not support', {
    timeout: 60_000,
  }, async () => {
    const prepared: string[] = [];
    const speak = (language: string, says: string) =>
      testSpeech({
        languages: [language],
        prepare: (asked) => prepared.push(`${asked} by ${language}`),
        recognise: () => says,
      });
    const english = await stage.startWorker(speak('en', 'English.'));
    const italian = await stage.startWorker(speak('it', 'Italiano.'));
    const file = await stage.speech(CHILDREN);
    const hear = async (language: string): Promise<string> => {
      const room = await stage.newRoom();
      await stage.start(room, { language });
      await stage.untilListening(room);
      const ada = await stage.enter(room, 'ada');
      await (await ada.publishWav(file)).played;
      const [segment] = await stage.untilSegments(room, (all) => all.length > 0);
      await stage.stop(room);
      return segment?.text ?? '';
    };
    expect(await Promise.all([hear('en-GB'), hear('it')])).toEqual(['English.', 'Italiano.']);
    expect(prepared.toSorted()).toEqual(['en-GB by en', 'it by it']);
    await english.close();
    await italian.close();
  });

  it('sends captions to the room, and none with captions: false, while the segments are stored', {
    timeout: 60_000,
  }, async () => {
    const worker = await stage.startWorker(testSpeech());
    const room = await stage.newRoom();
    const file = await stage.speech(CHILDREN);
    const [viewer, ada] = [await stage.enter(room, 'zoe'), await stage.enter(room, 'ada')];
    const captioned: (string | undefined)[] = [];
    viewer.room.registerTextStreamHandler('lk.transcription', async (reader: TextStreamReader) => {
      captioned.push(reader.info.attributes?.['lk.segment_id']);
      await reader.readAll();
    });
    const speak = async (captions: boolean): Promise<readonly Segment[]> => {
      await stage.start(room, { options: { captions } });
      await stage.untilListening(room);
      await (await ada.publishWav(file)).played;
      await stage.untilSegments(room, (all) => all.length > 0);
      await stage.stop(room);
      await stage.untilListening(room, false);
      return (await stage.read(room)).segments;
    };
    const silent = await speak(false);
    // Captions that arrive later over the same connection show that the viewer would have received earlier ones.
    const shown = await speak(true);
    await expect.poll(() => captioned.filter((id) => shown.some((one) => one.id === id))).not.toEqual([]);
    expect(captioned.filter((id) => silent.some((one) => one.id === id))).toEqual([]);
    await worker.close();
  });

  it('logs speech without text, also in halves', SPOKEN, async () => {
    let isDeaf = true;
    const speech = testSpeech({ recognise: ({ seconds }) => (isDeaf || seconds > 2 ? '' : 'half') });
    const worker = await stage.startWorker(speech);
    try {
      const room = await stage.newRoom();
      await stage.start(room);
      await stage.untilListening(room);
      const ada = await stage.enter(room, 'ada');
      await (await ada.publishWav(await stage.speech(CHILDREN))).played;
      const isLogged = ({ message }: { readonly message: string }) => message.includes('returned no text');
      await vi.waitUntil(() => worker.logLines.filter(isLogged).length >= 2, 60_000);
      const warnings = worker.logLines.filter(isLogged);
      expect(warnings.map(({ level }) => level)).toEqual(warnings.map(() => 'warn'));
      expect(Object.keys(warnings[0]?.fields ?? {}).toSorted()).toEqual([
        'durationMs',
        'trackId',
        'transcriptionId',
      ]);
      expect((await stage.read(room)).segments).toEqual([]);

      isDeaf = false;
      await (await ada.publishWav(await stage.speech(CHILDREN))).played;
      const segments = await stage.untilSegments(room, (all) => all.length >= 2);
      expect(new Set(segments.map(({ text }) => text))).toEqual(new Set(['half']));
      // If sound was lost, the sentence may already consist of pieces that are not halves of each other.
      if (measuresAccuracy) {
        const [one, two] = segments;
        expect(segments).toHaveLength(2);
        expect(one?.end).toBeCloseTo(two?.start ?? 0, 2);
      }
      await stage.stop(room);
    } finally {
      await worker.close();
    }
  });
});
