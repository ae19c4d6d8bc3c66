import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type { ParticipantSession, RoomSession } from '../../../../src/server/events/store.ts';
import type { SessionQuery } from '../../../../src/server/sessions/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

const NOW = 100_000;

describe.each(DATABASES)('sessions on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const open = (sid: string, changes: Partial<RoomSession> = {}) =>
    store.transaction(({ presence }) =>
      presence.saveRoom({
        ...{
          sid,
          name: 'demo',
          createdAt: 1000,
          startedAt: null,
          endedAt: null,
          sequence: 1,
          metadata: null,
        },
        ...changes,
      }),
    );
  const stay = (
    identity: string,
    [joinedAt, leftAt]: readonly [number | null, number | null],
    changes: Partial<ParticipantSession> = {},
  ) => {
    const sid = changes.sid ?? `PA_${identity}_${joinedAt}`;
    const who = { sid, identity, name: identity, countsAs: 'participant', roomSid: 'RM_1' } as const;
    const details = { joinedAt, leftAt, metadata: null, accessRole: null, untoldUntil: null };
    return store.presence.saveParticipant({ ...who, ...details, ...changes });
  };
  const list = async (query: Partial<SessionQuery> = {}) =>
    (await store.sessions.list({ now: NOW, limit: 10, ...query })).map(({ sid }) => sid);
  const figures = async (now = NOW) => {
    const row = await store.sessions.find('RM_1', now);
    return [row?.startedAt, row?.totalParticipants, row?.peakParticipants, row?.participantMs];
  };

  it('have no figures when nobody has joined', async () => {
    await open('RM_1', { endedAt: 2000 });
    expect(await figures()).toEqual([null, 0, 0, 0]);
    expect(await store.sessions.find('RM_2', NOW)).toBeUndefined();
  });

  it('are listed by name from the time of their opening, the newest first', async () => {
    for (const [sid, createdAt] of [
      ['RM_1', 1000],
      ['RM_2', 2000],
      ['RM_3', 3000],
    ] as const)
      await open(sid, { name: `room of ${sid}`, createdAt });
    expect(await store.presence.listOpened(2000, 9)).toEqual(['room of RM_3', 'room of RM_2']);
    expect(await store.presence.listOpened(0, 1)).toEqual(['room of RM_3']);
  });

  it('count more connections than are read in one step', async () => {
    await open('RM_1', { endedAt: 9_000_000 });
    const people = Array.from({ length: 10_001 }, (_, n) => ({
      ...({
        sid: `PA_${n}`,
        identity: `p${n % 7}`,
        name: '',
        countsAs: 'participant',
        roomSid: 'RM_1',
      } as const),
      ...{ joinedAt: 1000 + n * 10, leftAt: 1005 + n * 10 },
      ...{ metadata: null, accessRole: null, untoldUntil: null },
    }));
    await store.presence.saveParticipants(people);
    await open('RM_2', { endedAt: 9000 });
    await stay('bob', [2000, 4000], { roomSid: 'RM_2' });
    expect(await figures()).toEqual([1000, 7, 1, 50_005]);
    const rows = await store.sessions.list({ now: NOW, limit: 10 });
    expect(
      rows.map(({ sid, totalParticipants, participantMs }) => [sid, totalParticipants, participantMs]),
    ).toEqual([
      ['RM_2', 1, 2000],
      ['RM_1', 7, 50_005],
    ]);
  });

  it('are counted while they are open, with the people in them, by the beginnings of their names', async () => {
    await open('RM_1', { name: 'acme-1' });
    await open('RM_2', { name: 'acme-2' });
    await open('RM_3', { name: 'acme-3', endedAt: 9000 });
    await open('RM_4', { name: 'acme' });
    await stay('ada', [1000, null], { roomSid: 'RM_1' });
    await stay('bob', [1000, 2000], { roomSid: 'RM_1' });
    await stay('eve', [1000, null], { roomSid: 'RM_2' });
    await stay('zoe', [1000, null], { roomSid: 'RM_4' });
    const query = { rooms: ['acme-'], limit: 9 };
    expect(await store.sessions.countOpen(query)).toBe(2);
    expect(await store.sessions.countOpen({ ...query, except: 'acme-1' })).toBe(1);
    expect(await store.sessions.countOpen({ ...query, limit: 1 })).toBe(1);
    expect(await store.sessions.countPresent(query)).toBe(2);
    expect(await store.sessions.countPresent({ ...query, except: 'acme-1', identity: 'ada' })).toBe(1);
    expect([await store.sessions.isOpen('acme-1'), await store.sessions.isOpen('acme-3')]).toEqual([
      true,
      false,
    ]);
  });

  it('count identities, concurrent identities, and the time of all together', async () => {
    await open('RM_1', { endedAt: 9000 });
    await stay('ada', [1000, 5000]);
    await stay('bob', [2000, 3000]);
    await stay('eve', [3000, 4000]);
    expect(await figures()).toEqual([1000, 3, 2, 6000]);
  });

  it('count a person once who joins several times, also while an older connection is still open', async () => {
    await open('RM_1', { endedAt: 9000 });
    await stay('ada', [1000, 3000]);
    await stay('ada', [2500, 4000]);
    await stay('ada', [2600, 2700]);
    await stay('ada', [8000, 9000]);
    await stay('bob', [4000, 5000]);
    expect(await figures()).toEqual([1000, 2, 1, 5000]);
  });

  it('count participants who are present until now, also when the media server’s clock is ahead', async () => {
    await open('RM_1');
    await stay('ada', [1000, null]);
    await stay('bob', [8000, null]);
    expect(await figures(5000)).toEqual([1000, 2, 2, 4000]);
    expect(await figures(9000)).toEqual([1000, 2, 2, 9000]);
  });

  it('begin with the earliest join, whichever was stored first', async () => {
    await open('RM_1', { startedAt: 3000 });
    await stay('bob', [3000, 4000]);
    await stay('ada', [2000, 4000]);
    expect(await figures()).toEqual([2000, 2, 2, 3000]);
  });

  it('count no recorders, and nobody of whom only the end is known', async () => {
    await open('RM_1');
    await stay('EG_1', [1000, 2000], { countsAs: 'machinery' });
    await stay('lost', [null, 2000]);
    expect(await figures()).toEqual([null, 0, 0, 0]);
    expect(await store.sessions.listConnections({ roomSid: 'RM_1', limit: 10 })).toEqual([]);
  });

  it('count somebody who left in the instant of joining', async () => {
    await open('RM_1');
    await stay('ada', [1000, 1000]);
    expect(await figures()).toEqual([1000, 1, 1, 0]);
  });

  it('are separate for rooms of the same name, each with its own participants', async () => {
    await open('RM_1', { endedAt: 2000 });
    await open('RM_2', { createdAt: 3000 });
    await stay('ada', [1000, 2000]);
    await stay('ada', [3000, 3500], { roomSid: 'RM_2' });
    await stay('bob', [3000, 3500], { roomSid: 'RM_2' });
    const rows = await store.sessions.list({ now: NOW, limit: 10 });
    expect(rows.map((row) => [row.sid, row.totalParticipants, row.participantMs])).toEqual([
      ['RM_2', 2, 1000],
      ['RM_1', 1, 1000],
    ]);
  });

  it('are listed with the newest first, page by page, without probe rooms of rtc doctor', async () => {
    for (const n of [1, 2, 3, 4]) await open(`RM_${n}`, { createdAt: 1000 * Math.ceil(n / 2) });
    await open('RM_probe', { name: 'rtc-doctor-probe-1', createdAt: 9000 });
    expect(await list()).toEqual(['RM_4', 'RM_3', 'RM_2', 'RM_1']);
    expect(await list({ limit: 1 })).toEqual(['RM_4']);
    expect(await list({ after: { createdAt: 2000, id: 'RM_4' }, limit: 2 })).toEqual(['RM_3', 'RM_2']);
    expect(await list({ after: { createdAt: 1000, id: 'RM_1' } })).toEqual([]);
  });

  it('are filtered by room, status and time, including the beginning and excluding the end', async () => {
    await open('RM_1', { createdAt: 1000, endedAt: 1500 });
    await open('RM_2', { createdAt: 2000, name: 'Demo' });
    await open('RM_3', { createdAt: 3000 });
    expect(await list({ room: 'demo' })).toEqual(['RM_3', 'RM_1']);
    expect(await list({ room: "demo' or 1=1 --" })).toEqual([]);
    expect(await list({ status: 'open' })).toEqual(['RM_3', 'RM_2']);
    expect(await list({ status: 'ended' })).toEqual(['RM_1']);
    expect(await list({ since: 2000 })).toEqual(['RM_3', 'RM_2']);
    expect(await list({ until: 2000 })).toEqual(['RM_1']);
    expect(await list({ since: 1000, until: 3000, room: 'demo' })).toEqual(['RM_1']);
  });

  it('list their participants in the order in which they joined, page by page', async () => {
    await open('RM_1');
    await stay('bob', [2000, 3000], { accessRole: 'host', name: 'Bob' });
    await stay('ada', [1000, null]);
    await stay('eve', [2000, 2500]);
    const stays = (after?: { createdAt: number; id: string }) =>
      store.sessions.listConnections({ roomSid: 'RM_1', limit: 2, after });
    expect((await stays()).map(({ sid }) => sid)).toEqual(['PA_ada_1000', 'PA_bob_2000']);
    expect(await stays({ createdAt: 2000, id: 'PA_bob_2000' })).toEqual([
      {
        ...{ sid: 'PA_eve_2000', identity: 'eve', name: 'eve', accessRole: null },
        ...{ joinedAt: 2000, leftAt: 2500 },
      },
    ]);
  });

  it('keep names that no column can hold, as far as possible', async () => {
    const hostile = "\u0000'; drop table participantSessions; --\ud800 =1+1";
    await open('RM_1', { name: hostile });
    await stay(hostile, [1000, 2000], { sid: 'PA_1' });
    expect(await list({ room: hostile })).toEqual(['RM_1']);
    const [one] = await store.sessions.listConnections({ roomSid: 'RM_1', limit: 1 });
    expect(one?.identity).toBe("\ufffd'; drop table participantSessions; --\ufffd =1+1");
    expect(await store.sessions.find('\u0000', NOW)).toBeUndefined();
  });

  it('are purged with their participants some time after their end', async () => {
    await open('RM_1', { endedAt: 2000 });
    await open('RM_2', { endedAt: 3000 });
    await open('RM_3');
    await stay('ada', [1000, 2000]);
    await store.usage.settle({ now: 3000, dueBy: 3000, limit: 9 });
    expect(await store.presence.purge(3000, 10)).toBe(1);
    expect(await list()).toEqual(['RM_3', 'RM_2']);
    expect(await store.sessions.listConnections({ roomSid: 'RM_1', limit: 10 })).toEqual([]);
  });

  it('may outlive their tracks, but those in open rooms are kept', async () => {
    await open('RM_1', { endedAt: 2000 });
    await open('RM_2');
    const track = (sid: string, roomSid: string, publishedAt: number) => ({
      ...{ sid, roomSid, publishedAt, participantSid: 'PA_1', track: '{}', unpublishedAt: null },
      untoldUntil: null,
    });
    const tracks = [track('TR_1', 'RM_1', 1000), track('TR_2', 'RM_1', 1500), track('TR_3', 'RM_2', 1000)];
    await store.presence.saveTracks([...tracks, track('TR_4', 'RM_gone', 1000)]);
    expect(await store.presence.purgeTracks(1500, 1)).toBe(1);
    expect(await store.presence.purgeTracks(1500, 10)).toBe(1);
    expect(await store.presence.purgeTracks(1500, 10)).toBe(0);
    const left = await store.presence.findTracks(['TR_1', 'TR_2', 'TR_3', 'TR_4']);
    expect(left.map(({ sid }) => sid).sort()).toEqual(['TR_2', 'TR_3']);
  });

  it('have the recordings and transcriptions that were started in them', async () => {
    const recording = { room: 'demo', bucket: null, owner: 'one', claimUntil: 2000 };
    const claim = (id: string, roomSid: string | null, now: number) =>
      store.recordings.claim({ ...recording, id, roomSid, filepath: id }, now);
    await claim('rec_1', 'RM_1', 1000);
    // A recording in a later session of the same name does not change an earlier one.
    await claim('rec_2', 'RM_2', 2000);
    expect((await store.recordings.listOfSession('RM_1', 9)).map(({ id }) => id)).toEqual(['rec_1']);
    expect(await store.recordings.listOfSession('RM_2', 9)).toEqual([]);
    const live = { language: 'en', speakers: {}, createdAt: 1000 };
    const options = { partialResults: false, captions: true, punctuation: true, profanityFilter: false };
    await store.transcriptions.startLive({ ...live, id: 'tr_1', room: 'demo', roomSid: 'RM_1', options });
    const post = { ...live, createdAt: 2000, originAt: 1000, egressId: 'EG_1', recordingId: 'rec_1' };
    await store.transcriptions.enqueuePost({ ...post, id: 'tr_2', room: 'demo', roomSid: 'RM_1' });
    const found = await store.transcriptions.listOfSession('RM_1', 9);
    expect(found.map(({ id }) => id)).toEqual(['tr_1', 'tr_2']);
    expect(await store.transcriptions.listOfSession('RM_1', 1)).toEqual(found.slice(0, 1));
    expect(await store.recordings.listOfSession('RM_1', 0)).toEqual([]);
  });
});
