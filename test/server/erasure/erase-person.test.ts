import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import type { AuditList } from '../../../src/contract/audit.ts';
import type { DeliveryList } from '../../../src/contract/deliveries.ts';
import type { EventList } from '../../../src/contract/events.ts';
import type { Key } from '../../../src/contract/keys.ts';
import type { SessionDetail } from '../../../src/contract/sessions.ts';
import type { ForgottenWords } from '../../../src/contract/words.ts';
import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { erasePerson } from '../../../src/server/erasure/erase-person.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { collectingLog } from '../../support/app.ts';
import { observeRecording } from '../../support/observe-recording.ts';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { startTestService } from '../../support/service.ts';
import { segment } from '../transcription/support/transcription-stage.ts';
import { LOOPBACK_ALLOWED, register } from '../webhooks/support/hooked-service.ts';
import { postMediaEvent } from '../webhooks/support/media-webhook.ts';
import { startReceiver } from '../webhooks/support/receiver.ts';

/* Everything that can tell who somebody is has the mark, in each of its cases. */

const IDA = 'zq-mark-ida';
const MARK = /zq.?mark/i;
const [PERSON, BOB] = [
  { identity: IDA, name: 'Zq-Mark Ida' },
  { identity: 'bob', name: 'Bob' },
];
const UNTIL = { blocksUntil: expect.any(String), auditEntriesUntil: expect.any(String) };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Returns tables and their columns, or files, that have the mark. */
type Search = () => Promise<readonly string[]>;

async function prepareSqlite(dataDir: string) {
  const path = join(dataDir, 'rtc.sqlite');
  const search: Search = async () => {
    const database = new DatabaseSync(path, { readOnly: true });
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    const found = tables.flatMap(({ name }) =>
      database
        .prepare(`select * from "${name}"`)
        .all()
        .flatMap((row) => Object.entries(row).filter(([, value]) => MARK.test(readText(value))))
        .map(([column]) => `${name}.${column}`),
    );
    database.close();
    return [...new Set(found)].sort();
  };
  return { search, environment: {}, database: { sqlitePath: path } };
}

function readText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
}

async function preparePostgres() {
  const { url } = await createMigratedDatabase();
  const search: Search = async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      "select table_name, column_name from information_schema.columns where table_schema = 'public'",
    );
    const found: string[] = [];
    for (const { table_name: table, column_name: column } of rows) {
      const { rows: hits } = await client.query(
        `select 1 from "${table}" where "${column}"::text ~* 'zq.?mark' limit 1`,
      );
      if (hits.length > 0) found.push(`${table}.${column}`);
    }
    const { rows: sampled } = await client.query(
      `select tablename, attname from pg_stats where schemaname = 'public'
        and (most_common_vals::text ~* 'zq.?mark' or histogram_bounds::text ~* 'zq.?mark')`,
    );
    await client.end();
    return [...found, ...sampled.map((one) => `statistics of ${one.tablename}.${one.attname}`)].sort();
  };
  const environment = { DATABASE_URL: url, ENCRYPTION_KEY: 'a'.repeat(64) };
  return { search, environment, database: { databaseUrl: url } };
}

/** Stores a block, a live transcription with a segment, and a recording with a turn. */
async function storeTraces(store: Store, now: number): Promise<void> {
  await store.blocks.save({ room: 'demo', identity: IDA, createdAt: now, blockedUntil: null });
  const speakers = { [IDA]: 'Zq-Mark Ida', TR_PA_1: 'Zq-Mark', bob: 'Bob' };
  const options = { partialResults: false, captions: true, punctuation: true, profanityFilter: false };
  await store.transcriptions.startLive({
    ...{ id: 'tr_1', room: 'demo', roomSid: 'RM_1', language: 'en-US', speakers, options, createdAt: now },
  });
  const claim = { owner: 'test', now, leaseUntil: now + 60_000, limit: 9, supports: () => true };
  await store.transcriptions.claimLive(claim);
  const said = segment('seg_1', { identity: IDA, name: PERSON.name, text: 'Zqmark', trackId: 'TR_PA_1' });
  await store.transcriptions.addSegments('tr_1', 'test', [said]);
  await store.transcriptions.stopLive('tr_1', now);
  const recording = { id: 'r_1', room: 'demo', filepath: 'r_1.mp4', bucket: null };
  await store.recordings.claim(
    { ...recording, owner: 'test', claimUntil: now + 60_000, recordTracks: 1 },
    now,
  );
  await observeRecording(store, 'r_1', { type: 'egress-created', egressId: 'EG_1', at: now });
  const listening = { recordingId: 'r_1', owner: 'test', now, leaseUntil: now + 60_000 };
  expect(await store.turns.claimListening(listening)).toBe(true);
  const turn = { trackId: 'TR_PA_1', identity: IDA, name: PERSON.name, startedAt: now, endedAt: now + 1 };
  expect(await store.turns.addTurns('r_1', 'test', [turn])).toBe(true);
}

/** Returns a store whose erasure fails before the step after this many; tells the names of the steps. */
function interruptAfter(store: Store, steps: number, taken: string[]): Store {
  let left = steps;
  const erasure = new Proxy(store.erasure, {
    get: (target, name, receiver) => {
      left -= 1;
      if (left < 0) throw new Error('interrupted');
      taken.push(String(name));
      return Reflect.get(target, name, receiver);
    },
  });
  return { ...store, erasure };
}

describe.each([
  ['SQLite', prepareSqlite],
  ['PostgreSQL', preparePostgres],
])('a person who is to be forgotten with everything on %s', (engine, prepare) => {
  const openStage = async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'rtc-forgotten-'));
    closers.push(() => rm(dataDir, { recursive: true }));
    const { search, environment, database } = await prepare(dataDir);
    const service = await startTestService({
      environment: { DATA_DIR: dataDir, ...LOOPBACK_ALLOWED, ...environment },
    });
    closers.push(() => service.close());
    const store = await openStore({ database, clock: systemClock, log: collectingLog([]) });
    closers.push(() => store.close());
    let number = 0;
    const startedAt = Math.floor(Date.now() / 1000) - 60;
    const tell = async (event: string, roomSid: string, rest: Readonly<Record<string, unknown>> = {}) => {
      number += 1;
      const room = { sid: roomSid, name: 'demo', creationTime: String(startedAt) };
      const id = `EV_${number}`;
      expect(await postMediaEvent(service.url, { event, id, room, ...rest })).toBe(200);
    };
    const person = ({ identity, name }: typeof PERSON, sid: string) => ({
      participant: {
        ...{ sid, identity, name, metadata: `of ${name}`, kind: 'STANDARD' },
        joinedAt: String(startedAt + 1),
      },
    });
    const forget = async (query: string): Promise<ForgottenWords> =>
      (await service.call('DELETE', `/v1/rooms/demo/participants/${IDA}/words?${query}`)).json;
    const read = async <T>(path: string) => (await service.call('GET', path)).json as T;
    return { dataDir, service, store, search, tell, person, forget, read };
  };

  it('is in no table and no file afterwards, and counts and durations stay', async () => {
    const stage = await openStage();
    const { service, store, search, tell, person, forget, read } = stage;
    // It repeats what it gets.
    const receiver = await startReceiver((_request, response, { text }) => void response.end(text));
    closers.push(() => receiver.close());
    const webhook = await register(service, receiver.url);
    await tell('room_started', 'RM_1');
    for (const sid of ['PA_1', 'PA_2']) {
      await tell('participant_joined', 'RM_1', person(PERSON, sid));
      const track = { sid: `TR_${sid}`, type: 'AUDIO', name: 'zq-mark camera' };
      await tell('track_published', 'RM_1', { ...person(PERSON, sid), track });
      await tell('participant_left', 'RM_1', person(PERSON, sid));
    }
    await tell('participant_joined', 'RM_1', person(BOB, 'PA_bob'));
    const ingressInfo = {
      ...{ ingressId: 'IN_1', roomName: 'demo', participantIdentity: IDA, participantName: 'Zq-Mark Ida' },
      state: { resourceId: 'R_1', roomId: 'RM_1' },
    };
    expect(await postMediaEvent(service.url, { event: 'ingress_started', id: 'EV_in', ingressInfo })).toBe(
      200,
    );
    const now = Date.now();
    await storeTraces(store, now);
    expect((await service.call('PATCH', `/v1/rooms/demo/participants/${IDA}`, { body: {} })).status).not.toBe(
      200,
    );
    const listDeliveries = () => read<DeliveryList>(`/v1/webhooks/${webhook.id}/deliveries?status=delivered`);
    await expect.poll(async () => (await listDeliveries()).deliveries.length).toBeGreaterThan(8);
    expect(await search()).toEqual(
      expect.arrayContaining([
        ...['events.payload', 'participantSessions.identity', 'participantSessions.name'],
        ...['publishedTracks.track', 'blocks.identity', 'auditEntries.ids', 'deliveries.log'],
        ...['transcriptions.speakers', 'segments.identity', 'segments.text', 'turns.identity', 'turns.name'],
      ]),
    );
    const before = await read<SessionDetail>('/v1/sessions/RM_1');
    const { events: eventsBefore } = await read<EventList>('/v1/events?roomId=demo');
    const done = await forget('everything=true');
    expect(done).toEqual({
      ...{ segments: 1, transcriptions: 1, running: 0, recordings: 1 },
      traces: { events: 7, connections: 2, speakers: 2, blocks: 1, auditEntries: 1, presentIn: 0, ...UNTIL },
    });
    expect(Date.parse(done.traces?.blocksUntil ?? '')).toBeGreaterThanOrEqual(now + 20 * 60_000);
    expect(Date.parse(done.traces?.auditEntriesUntil ?? '')).toBeGreaterThanOrEqual(now + 365 * 86_400_000);

    expect(await search()).toEqual(['blocks.identity']);
    const after = await read<SessionDetail>('/v1/sessions/RM_1');
    const figures = ({ participants, ...rest }: SessionDetail) => ({
      ...rest,
      participants: participants.map(({ sid, joinedAt, leftAt }) => [sid, joinedAt, leftAt]),
    });
    expect({ ...figures(after), participantMinutes: 0, durationMs: 0 }).toEqual({
      ...{ ...figures(before), participantMinutes: 0, durationMs: 0 },
    });
    expect(after.participants.map(({ identity, name }) => [identity, name])).toEqual([
      ['erased-1', ''],
      ['erased-1', ''],
      ['bob', 'Bob'],
    ]);
    const { events } = await read<EventList>('/v1/events?roomId=demo');
    expect(events.map(({ id, event }) => [id, event])).toEqual(
      eventsBefore.map(({ id, event }) => [id, event]),
    );
    expect(new Set(events.map(({ participant }) => participant?.identity))).toEqual(
      new Set([undefined, 'erased-1', 'bob']),
    );
    const { entries } = await read<AuditList>('/v1/audit?roomId=demo');
    expect(entries[0]?.ids).toEqual({ roomId: 'demo', participantId: 'erased', everything: 'true' });

    const { deliveries } = await listDeliveries();
    const sent = receiver.received.length;
    const again = deliveries.find(({ event }) => event === 'participant_joined');
    await service.call('POST', `/v1/webhooks/${webhook.id}/deliveries/${again?.id}/replay`);
    await receiver.waitFor(({ text }) => text.includes('"participant_joined"'), 4);
    expect(receiver.received.slice(sent).map(({ text }) => MARK.test(text))).toEqual([false]);

    expect((await forget('everything=true')).traces).toEqual({
      ...{ events: 0, connections: 0, speakers: 0, blocks: 0, auditEntries: 0, presentIn: 0, ...UNTIL },
    });
    // The ended block stays for the other instances until the next purge.
    await store.blocks.purge(Date.now() + 1, 9);
    expect(await search()).toEqual([]);
    if (engine === 'PostgreSQL') return;
    await store.close();
    await service.stop();
    for (const file of await readdir(stage.dataDir, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const text = await readFile(join(file.parentPath, file.name), 'latin1');
      expect([file.name, MARK.test(text)]).toEqual([file.name, false]);
    }
  });

  it('is erased by repeating the request after an interruption at any step', async () => {
    const { store, tell, person, forget, search } = await openStage();
    await tell('room_started', 'RM_1');
    for (const sid of ['PA_1', 'PA_2']) {
      await tell('participant_joined', 'RM_1', person(PERSON, sid));
      await tell('participant_left', 'RM_1', person(PERSON, sid));
    }
    await storeTraces(store, Date.now());
    const taken: string[] = [];
    const auditWriter = { flush: async () => {} };
    for (let steps = 0; taken.at(-1) !== 'refreshStatistics'; steps += 1) {
      const deps = { store: interruptAfter(store, steps, taken), clock: systemClock, auditWriter };
      const erasing = erasePerson({ ...deps, auditRetentionMs: 1 }, { identity: IDA, room: 'demo' });
      await erasing.catch(({ message }: Error) => expect(message).toBe('interrupted'));
    }
    expect(new Set(taken)).toEqual(
      new Set([
        ...['eraseSpeakers', 'eraseEvents', 'eraseAuditIds', 'listBlockedIn', 'findLastBlockEnd'],
        ...['eraseConnections', 'refreshStatistics'],
      ]),
    );
    expect(await forget('everything=true')).toMatchObject({
      ...{ segments: 1, recordings: 1 },
      traces: { events: 0, connections: 0, speakers: 0, blocks: 0 },
    });
    await store.blocks.purge(Date.now() + 1, 9);
    expect(await search()).toEqual([]);
  });

  it('stays in the session in which the person still is, until the request is repeated', async () => {
    const { tell, person, forget, search } = await openStage();
    for (const roomSid of ['RM_1', 'RM_2']) {
      await tell('room_started', roomSid);
      await tell('participant_joined', roomSid, person(PERSON, `PA_${roomSid}`));
    }
    await tell('participant_left', 'RM_1', person(PERSON, 'PA_RM_1'));
    expect((await forget('everything=true&allRooms=true')).traces).toMatchObject({
      ...{ events: 2, connections: 1, presentIn: 1 },
    });
    expect(await search()).toEqual(
      expect.arrayContaining(['events.payload', 'participantSessions.identity']),
    );
    await tell('participant_left', 'RM_2', person(PERSON, 'PA_RM_2'));
    expect((await forget('everything=true&allRooms=true')).traces).toMatchObject({
      ...{ events: 2, connections: 1, presentIn: 0 },
    });
    // A late event of a track has the identity itself.
    const track = { sid: 'TR_late', type: 'AUDIO' };
    await tell('track_unpublished', 'RM_2', { ...person(PERSON, 'PA_RM_2'), track });
    expect(await search()).toEqual([]);
  });

  it('is erased only by a key with the scope admin', async () => {
    const { service } = await openStage();
    const body = { name: 'recorder', scopes: ['recordings'] };
    const { id, secret }: Key = (await service.call('POST', '/v1/keys', { body })).json;
    const call = await service.call('DELETE', `/v1/rooms/demo/participants/${IDA}/words?everything=true`, {
      signing: { apiKey: id, apiSecret: secret ?? '' },
    });
    expect(call.status).toBe(403);
  });
});
