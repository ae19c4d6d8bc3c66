import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import type { MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import {
  reconcileTranscriptions,
  stopTranscription,
} from '../../../src/server/transcription/stop-transcription.ts';
import type { StoredSegment } from '../../../src/server/transcription/store.ts';
import {
  type EventStage,
  joined,
  mediaEvent,
  NOW,
  openEventStage,
} from '../media-events/support/event-stage.ts';

let stage: EventStage;
beforeEach(async () => {
  stage = await openEventStage();
});
afterEach(() => stage.close());

const options = { partialResults: false, captions: true, punctuation: true, profanityFilter: false };

const start = (id: string, createdAt: number, room = 'demo') =>
  stage.store.transcriptions.startLive({ id, room, language: 'en-US', speakers: {}, options, createdAt });

async function storeSegment(id: string): Promise<void> {
  const { transcriptions } = stage.store;
  const claim = { owner: 'a', now: NOW, leaseUntil: NOW + 1000, limit: 9, supports: () => true };
  await transcriptions.claimLive(claim);
  const segment: StoredSegment = {
    ...{ id: `seg of ${id}`, trackId: null, identity: 'ada', name: 'Ada', text: 'Hello.', language: 'en-US' },
    ...{ startedAt: NOW - 500, endedAt: NOW - 100, confidence: null },
    overlapMs: null,
  };
  await transcriptions.addSegments(id, 'a', [segment]);
}

const finish = (sid = 'RM_1') => stage.receive(mediaEvent('room_finished', { sid }));

describe('the end of a room', () => {
  it('stops its transcription, and reports that just before', async () => {
    await stage.receive(mediaEvent('room_started'), joined('ada'));
    await start('tr_1', NOW - 4_000);
    await storeSegment('tr_1');
    await finish();
    expect(await stage.store.transcriptions.find('tr_1')).toMatchObject({
      status: 'stopped',
      endedAt: NOW,
    });
    const published = await stage.storedEvents();
    expect(published.map(({ event }) => event).slice(-3)).toEqual([
      'participant_left',
      'transcription_completed',
      'room_finished',
    ]);
    expect(published.at(-2)).toMatchObject({
      transcription: { transcriptionId: 'tr_1', kind: 'live', status: 'stopped', segmentCount: 1 },
      room: { name: 'demo' },
    });
    const sequences = published.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  });

  it('reports nothing when there is none, or when it was stopped before', async () => {
    await start('tr_1', NOW - 4_000);
    await stage.receive(mediaEvent('room_started'));
    await stopTranscription(stage.deps, 'demo');
    await finish();
    const completed = (await stage.storedEvents()).filter(({ event }) => event === 'transcription_completed');
    expect(completed).toHaveLength(1);
  });

  it('does not stop that of another room, and of a later room of the same name', async () => {
    await stage.receive(mediaEvent('room_started'));
    await start('tr_1', NOW - 4_000, 'other');
    await start('tr_2', NOW + 1);
    await finish();
    expect(await stage.store.transcriptions.listActiveLive()).toHaveLength(2);
  });

  it('stops one that began in the instant of the end', async () => {
    await stage.receive(mediaEvent('room_started'));
    await start('tr_1', NOW);
    await finish();
    expect(await stage.store.transcriptions.listActiveLive()).toEqual([]);
  });

  it('leaves the transcription active when its event cannot be stored', async () => {
    await stage.receive(mediaEvent('room_started'));
    await start('tr_1', NOW - 4_000);
    const failing = {
      ...stage.deps,
      ids: {
        next: (): string => {
          throw new ServiceError('storage-unavailable', 'Away.');
        },
      },
    };
    await expect(stopTranscription(failing, 'demo')).rejects.toThrow('Away.');
    expect(await stage.store.transcriptions.find('tr_1')).toMatchObject({
      status: 'active',
      endedAt: null,
    });
  });
});

describe('a transcription that is stopped by a caller', () => {
  const open = (sid: string, createdAt: number) =>
    stage.receive(mediaEvent('room_started', { room: { sid, name: 'demo', createdAt } }));

  it('is reported in the newest room of its name, because the end of an earlier one may have been missed', async () => {
    await open('RM_1', NOW - 60_000);
    await open('RM_2', NOW - 5_000);
    await start('tr_1', NOW - 4_000);
    await stopTranscription(stage.deps, 'demo');
    expect((await stage.storedEvents()).at(-1)).toMatchObject({
      ...{ event: 'transcription_completed', sequence: 2 },
      room: { id: 'RM_2' },
    });
  });

  it('is reported without a room session when the last one has ended', async () => {
    await open('RM_1', NOW - 60_000);
    await finish();
    await start('tr_1', NOW + 1);
    await stopTranscription(stage.deps, 'demo');
    expect((await stage.storedEvents()).at(-1)).toMatchObject({
      sequence: null,
      room: { id: '', name: 'demo' },
    });
  });
});

describe('comparing transcriptions with the media server', () => {
  const reconcile = (rooms: readonly string[]) =>
    reconcileTranscriptions({
      ...stage.deps,
      mediaServer: {
        listRooms: async () => rooms.map((name) => ({ name })),
        isRoomServed: async () => false,
      } as unknown as MediaServer,
    });

  it('stops those of rooms that are gone, once they are old enough, marked as reconciled', async () => {
    await start('tr_gone', NOW - 20_001, 'gone');
    await start('tr_open', NOW - 20_001, 'open');
    await start('tr_new', NOW - 20_000, 'new');
    expect(await reconcile(['open'])).toBe(1);
    const active = await stage.store.transcriptions.listActiveLive();
    expect(active.map(({ id }) => id).sort()).toEqual(['tr_new', 'tr_open']);
    expect(await stage.storedEvents()).toMatchObject([
      { event: 'transcription_completed', reconciled: true, transcription: { transcriptionId: 'tr_gone' } },
    ]);
    expect(await reconcile(['open'])).toBe(0);
  });
});
