import { afterEach, describe, expect, it } from 'vitest';
import { getSession, listSessions } from '../../../src/server/sessions/session-routes.ts';
import { SessionTally } from '../../../src/server/sessions/sessions.sql.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import {
  type EventStage,
  joined,
  left,
  mediaEvent,
  NOW,
  openEventStage,
} from '../media-events/support/event-stage.ts';

const stages: EventStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

const engines = [
  { name: 'SQLite', databaseUrl: async () => undefined },
  { name: 'PostgreSQL', databaseUrl: async () => (await createMigratedDatabase()).url },
];

describe.each(engines)('a session on $name', ({ databaseUrl }) => {
  const openStage = async (): Promise<EventStage> => {
    const stage = await openEventStage(await databaseUrl());
    stages.push(stage);
    return stage;
  };
  const readWhole = (stage: EventStage) => getSession(stage, 'RM_1');
  const life = () => [
    mediaEvent('room_started'),
    joined('ada1', { joinedAt: NOW - 4_000 }),
    joined('bob1', { joinedAt: NOW - 3_000 }),
    left('ada1', { createdAt: NOW - 2_000, receivedAt: NOW - 2_000 }),
    joined('ada2', { joinedAt: NOW - 1_000 }),
    mediaEvent('room_finished', { createdAt: NOW }),
  ];
  const whole = {
    ...{ sessionId: 'RM_1', roomId: 'demo', status: 'ended', totalParticipants: 2, peakParticipants: 2 },
    ...{ durationMs: 4_000, participantMinutes: 0.1 },
  };

  it('is the same whether its events arrive in order, reversed, twice, or at once', async () => {
    const inOrder = await openStage();
    for (const event of life()) await inOrder.receive(event);
    const reversed = await openStage();
    for (const event of life().toReversed()) await reversed.receive(event);
    const twice = await openStage();
    for (const event of life()) await Promise.all([twice.receive(event), twice.receive(event)]);
    const session = await readWhole(inOrder);
    expect(session).toMatchObject(whole);
    expect(session.participants.map(({ sid }) => sid)).toEqual(['PA_ada1', 'PA_bob1', 'PA_ada2']);
    const figures = ({ totalParticipants, startedAt }: typeof session) => [totalParticipants, startedAt];
    expect(figures(await readWhole(reversed))).toEqual(figures(session));
    expect(await readWhole(twice)).toEqual(session);
  });

  it('is complete as soon as a missed event was published', async () => {
    const stage = await openStage();
    const [opened, ada, ...rest] = life();
    if (opened === undefined || ada === undefined) throw new Error('unreachable');
    await stage.receive(opened, ...rest);
    expect((await readWhole(stage)).durationMs).toBe(3_000);
    await stage.receive(ada);
    expect(await readWhole(stage)).toMatchObject(whole);
  });

  it('has its first thousand participants, and a note that there are more', async () => {
    const stage = await openStage();
    const people = Array.from({ length: 1001 }, (_, n) => joined(`p${n}x1`, { joinedAt: NOW - 4_000 + n }));
    await stage.receive(...people);
    const session = await readWhole(stage);
    expect(session).toMatchObject({ totalParticipants: 1001, participantsTruncated: true });
    expect(session.participants).toHaveLength(1000);
  });

  it('has its first thousand recordings and transcriptions, and notes that there are more', async () => {
    const { clock, store, receive } = await openStage();
    await receive(mediaEvent('room_started'));
    const stored = await store.transaction(async ({ recordings, transcriptions }) => {
      const claim = { id: 'rec_1', room: 'demo', roomSid: 'RM_1', filepath: 'one.mp4', bucket: null };
      await recordings.claim({ ...claim, owner: 'a', claimUntil: NOW, recordTracks: 0 }, NOW);
      const options = { partialResults: false, captions: true, punctuation: true, profanityFilter: false };
      const live = {
        id: 'tr_1',
        room: 'demo',
        roomSid: 'RM_1',
        language: 'en',
        speakers: {},
        createdAt: NOW,
      };
      await transcriptions.startLive({ ...live, options });
      return { recording: await recordings.find('rec_1'), transcription: await transcriptions.find('tr_1') };
    });
    const { recording, transcription } = stored;
    if (recording === undefined || transcription === undefined) throw new Error('unreachable');
    const repeat = <Row>(row: Row) => ({
      listOfSession: async (_: string, limit: number) => Array.from({ length: limit }, () => row),
    });
    const recordings = repeat({ ...recording, status: 'stopped' as const });
    const many = { sessions: store.sessions, recordings, transcriptions: repeat(transcription) };
    const session = await getSession({ store: many, clock }, 'RM_1');
    expect(session).toMatchObject({ recordingsTruncated: true, transcriptionsTruncated: true });
    expect([session.recordings.length, session.transcriptions.length]).toEqual([1000, 1000]);
  });

  it('is kept without the metadata of participants who have left', async () => {
    const stage = await openStage();
    await stage.receive(joined('ada1', { metadata: 'secret' }), joined('bob1', { metadata: 'present' }));
    await stage.receive(left('ada1'));
    const stored = await stage.store.presence.findParticipants(['PA_ada1', 'PA_bob1']);
    expect(stored.map(({ metadata }) => metadata)).toEqual(expect.arrayContaining([null, 'present']));
    const events = await stage.store.events.list({ afterPosition: 0, types: ['participant_left'], limit: 9 });
    expect(events[0]?.payload).toContain('"metadata":"secret"');
  });

  it('is in one list with open ones, with figures of the time of the request', async () => {
    const stage = await openStage();
    await stage.receive(...life());
    const open = { sid: 'RM_2', name: 'demo', createdAt: NOW };
    await stage.receive(mediaEvent('room_started', { room: open }), {
      ...joined('eve1', { joinedAt: NOW }),
      room: open,
    });
    stage.clock.advance(90_000);
    const { sessions } = await listSessions(stage, { limit: 10 });
    expect(sessions).toMatchObject([
      { sessionId: 'RM_2', status: 'open', endedAt: null, durationMs: 90_000, participantMinutes: 1.5 },
      whole,
    ]);
  });
});

describe('the figures of a session', () => {
  const stay = (identity: string, joinedAt: number, leftAt: number | null) => ({
    identity,
    joinedAt,
    leftAt,
    accessRole: identity === 'camera' ? 'ingress' : null,
  });

  const tally = (stays: readonly ReturnType<typeof stay>[]) =>
    stays.reduce((sum, one) => sum.add(one), new SessionTally()).figures(99);

  it('are empty without participants', () => expect(new SessionTally().figures(9)).toBeUndefined());

  it('count a join in the instant of another leave after that leave', () => {
    const stays = [stay('ada', 0, 10), stay('bob', 10, 20), stay('eve', 19, 30)];
    expect(tally(stays)).toMatchObject({
      totalParticipants: 3,
      peakParticipants: 2,
      participantMs: 31,
    });
  });

  it('have the time of a stream as that of the room, and not as that of a person', () => {
    const stays = [stay('camera', 0, 50), stay('ada', 10, 30)];
    expect(tally(stays)).toEqual({
      firstJoinedAt: 0,
      totalParticipants: 1,
      peakParticipants: 1,
      participantMs: 20,
    });
  });

  it('include a participant who joined and left in one instant', () => {
    const stays = [stay('ada', 0, 50), stay('bob', 10, 10), stay('eve', 11, 12)];
    expect(tally(stays)).toMatchObject({ totalParticipants: 3, peakParticipants: 2 });
  });

  it('have the peak of a thousand overlapping participants', () => {
    const stays = Array.from({ length: 1000 }, (_, n) => stay(`id ${n}`, n, n + 100));
    expect(tally(stays)).toMatchObject({ peakParticipants: 100, participantMs: 100_000 });
  });
});
