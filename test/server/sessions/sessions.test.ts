import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  Session,
  SessionDetail,
  SessionList,
  SessionParticipantList,
} from '../../../src/contract/sessions.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import { startLivekit } from '../../support/parts/livekit.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import type { TestService } from '../../support/service.ts';
import { type Stage, startStage } from '../recordings/support/stage.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

/** A service with a media server that reports to it. */
type SessionStage = {
  readonly service: TestService;
  readonly join: (room: string, identity: string) => Promise<void>;
  /** The participant leaves by itself. */
  readonly leave: (room: string, identity: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

async function realStage(): Promise<SessionStage> {
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  const service = await startHookedService(port, { livekit });
  const joined = new Map<string, JoinedParticipant>();
  return {
    service,
    join: async (roomId, userId) => {
      const body = { roomId, userId, name: userId.toUpperCase(), role: 'host' };
      const { url, token }: Token = (await service.call('POST', '/v1/token', { body })).json;
      joined.set(userId, await join(url, token));
    },
    leave: async (_room, identity) => joined.get(identity)?.leave(),
    close: async () => {
      await Promise.all([...joined.values()].map((participant) => participant.leave()));
      await service.close();
      await livekit.close();
    },
  };
}

async function startHookedStage(): Promise<Stage> {
  const { port, webhookUrl } = await chooseServicePort();
  return await startStage({ environment: { PORT: `${port}` }, media: { webhookUrls: [webhookUrl] } });
}

async function simulatedStage(): Promise<SessionStage> {
  const { media, service, close } = await startHookedStage();
  const attributes = { 'rtc.role': 'host' };
  return {
    service,
    join: async (room, identity) =>
      void media.control.join(room, { identity, name: identity.toUpperCase(), attributes }),
    leave: async (room, identity) => void media.control.leave(room, identity),
    close,
  };
}

async function listSessions(service: TestService, room: string): Promise<readonly Session[]> {
  const response = await service.call('GET', `/v1/sessions?roomId=${encodeURIComponent(room)}`);
  expect(response.status, response.text).toBe(200);
  return (response.json as SessionList).sessions;
}

async function readDetail(service: TestService, sessionId: string): Promise<SessionDetail> {
  const response = await service.call('GET', `/v1/sessions/${sessionId}`);
  expect(response.status, response.text).toBe(200);
  return response.json;
}

describe.each([
  { name: 'the real media server', start: realStage },
  { name: 'the embedded media server', start: simulatedStage },
])('sessions of $name', ({ start }) => {
  let stage: SessionStage;
  let service: TestService;
  beforeAll(async () => {
    stage = await start();
    service = stage.service;
  });
  afterAll(() => stage?.close());

  const close = (room: string) => service.call('DELETE', `/v1/rooms/${encodeURIComponent(room)}`);
  /** Resolves to the newest session of the room, when it matches. */
  const newest = async (room: string, isAsWanted: (session: Session) => boolean): Promise<Session> => {
    await expect
      .poll(async () => (await listSessions(service, room)).slice(0, 1).map(isAsWanted))
      .toEqual([true]);
    const [session] = await listSessions(service, room);
    return session ?? expect.unreachable();
  };

  it('are open while somebody is present, and end with the room, each with its own participants', async () => {
    const room = `lesson <b>"é" =1+1 ${randomUUID()}`;
    await stage.join(room, 'ada');
    await stage.join(room, 'bob');
    const open = await newest(room, ({ totalParticipants }) => totalParticipants === 2);
    expect(open).toMatchObject({ roomId: room, status: 'open', endedAt: null, peakParticipants: 2 });
    await stage.leave(room, 'bob');
    await expect
      .poll(async () =>
        (await readDetail(service, open.sessionId)).participants.map(({ leftAt }) => leftAt !== null),
      )
      .toEqual([false, true]);
    await close(room);
    const ended = await newest(room, ({ status }) => status === 'ended');
    await stage.join(room, 'ada');
    const again = await newest(
      room,
      ({ sessionId, totalParticipants }) => sessionId !== open.sessionId && totalParticipants === 1,
    );
    expect(again).toMatchObject({ status: 'open', totalParticipants: 1, peakParticipants: 1 });
    await close(room);

    expect(ended.sessionId).toMatch(/^RM_/);
    const detail = await readDetail(service, ended.sessionId);
    expect(detail).toMatchObject({ ...ended, recordings: [], transcriptions: [] });
    expect(detail.participantsTruncated).toBeUndefined();
    expect(detail.participants).toMatchObject([
      { identity: 'ada', name: 'ADA', role: 'host' },
      { identity: 'bob', name: 'BOB', role: 'host' },
    ]);
    const instants = [ended.createdAt, ended.startedAt, ended.endedAt].map((at) => Date.parse(at ?? ''));
    expect(instants).toEqual(instants.toSorted((one, other) => one - other));
    expect(ended.durationMs).toBe((instants[2] ?? 0) - (instants[1] ?? 0));
    const together = detail.participants.reduce((sum, { durationMs }) => sum + durationMs, 0);
    expect(ended.participantMinutes).toBeCloseTo(together / 60_000, 2);
  });

  it('count an identity once that joins again while it is present, and have both connections', async () => {
    const room = `twice ${randomUUID()}`;
    await stage.join(room, 'ada');
    const { sessionId } = await newest(room, ({ totalParticipants }) => totalParticipants === 1);
    await stage.join(room, 'ada');
    await expect
      .poll(async () =>
        (await readDetail(service, sessionId)).participants.map(({ leftAt }) => leftAt !== null),
      )
      .toEqual([true, false]);
    const detail = await readDetail(service, sessionId);
    expect(detail).toMatchObject({ totalParticipants: 1, peakParticipants: 1 });
    expect(detail.participants.map(({ identity }) => identity)).toEqual(['ada', 'ada']);
    await close(room);
  });

  it('exist without participants', async () => {
    const room = `empty ${randomUUID()}`;
    await service.call('POST', '/v1/rooms', { body: { name: room } });
    await newest(room, ({ status }) => status === 'open');
    await close(room);
    const ended = await newest(room, ({ status }) => status === 'ended');
    const nothing = { startedAt: null, durationMs: 0, totalParticipants: 0, participantMinutes: 0 };
    expect(ended).toMatchObject({ ...nothing, peakParticipants: 0 });
  });

  it('have consistent pages, also of their participants', async () => {
    const room = `paged ${randomUUID()}`;
    for (const identity of ['ada', 'bob', 'eve']) await stage.join(room, identity);
    const { sessionId } = await newest(room, ({ totalParticipants }) => totalParticipants === 3);
    await close(room);
    await newest(room, ({ status }) => status === 'ended');
    await stage.join(room, 'ada');
    await newest(room, ({ status }) => status === 'open');
    const page = async (more = ''): Promise<SessionList> =>
      (await service.call('GET', `/v1/sessions?roomId=${encodeURIComponent(room)}&limit=1${more}`)).json;
    const first = await page();
    const second = await page(`&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({ sessions: [{ sessionId }], nextCursor: null });
    expect(first.sessions[0]?.sessionId).not.toBe(sessionId);
    const peoplePage = async (query: string) =>
      await service.call('GET', `/v1/sessions/${sessionId}/participants?limit=2${query}`);
    const people: SessionParticipantList = (await peoplePage('')).json;
    const rest: SessionParticipantList = (await peoplePage(`&cursor=${people.nextCursor}`)).json;
    expect([...people.participants, ...rest.participants]).toEqual(
      (await readDetail(service, sessionId)).participants,
    );
    expect([people.participants.length, rest.nextCursor]).toEqual([2, null]);
    expect((await peoplePage(`&cursor=${first.nextCursor}`)).status).toBe(400);
    await close(room);
  });

  it('are not found by another id', async () => {
    for (const id of ['RM_none', "RM_'%00", '%E2%82%AC'.repeat(20)]) {
      const { status, json } = await service.call('GET', `/v1/sessions/${id}`);
      expect([status, (json as { type: string }).type]).toEqual([
        404,
        'urn:problem-type:rtc:session-not-found',
      ]);
    }
  });
});

describe('recordings and transcriptions of a session', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await startHookedStage();
  });
  afterAll(() => stage?.close());

  it('are those that were started in it, not in another session of the same room', async () => {
    const room = `recorded ${randomUUID()}`;
    const { recordingId } = await stage.recordWhole(room);
    await stage.service.call('DELETE', `/v1/rooms/${encodeURIComponent(room)}`);
    await expect.poll(async () => (await listSessions(stage.service, room))[0]?.status).toBe('ended');
    const second = await stage.recordWhole(room);
    await expect.poll(async () => (await listSessions(stage.service, room)).length).toBe(2);
    const found = await listSessions(stage.service, room);
    const details = await Promise.all(found.map(({ sessionId }) => readDetail(stage.service, sessionId)));
    expect(details.map(({ recordings }) => recordings)).toEqual([
      [await stage.get(second.recordingId)],
      [await stage.get(recordingId)],
    ]);
  });
});
