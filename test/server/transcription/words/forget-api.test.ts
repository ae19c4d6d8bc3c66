import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AuditList } from '../../../../src/contract/audit.ts';
import type { LiveStarted } from '../../../../src/contract/transcription.ts';
import { register } from '../../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../../webhooks/support/receiver.ts';
import { segment, startTranscriptionStage, type TranscriptionStage } from '../support/transcription-stage.ts';

let stage: TranscriptionStage;
let receiver: Receiver;
beforeAll(async () => {
  stage = await startTranscriptionStage();
  receiver = await startReceiver();
  await register(stage.service, receiver.url, ['*']);
});
afterAll(async () => {
  await receiver?.close();
  await stage?.close();
});

let room: string;
beforeEach(async () => {
  room = `room-${randomUUID()}`;
  await stage.open(room);
  await stage.beat('stt-live', ['en']);
});

async function start(name: string): Promise<string> {
  const response = await stage.service.call('POST', `/v1/rooms/${name}/transcription/start`);
  const { transcriptionId }: LiveStarted = response.json;
  return transcriptionId;
}
const forget = (identity: string, query = '') =>
  stage.service.call('DELETE', `/v1/rooms/${room}/participants/${identity}/words${query}`);

/** Returns the tables that contain the text anywhere, including those of the search index. */
function tablesWith(text: string): readonly string[] {
  const database = new DatabaseSync(join(stage.dataDir, 'rtc.sqlite'), { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
    return tables
      .map(({ name }) => String(name))
      .filter((name) => {
        const rows = database.prepare(`select * from "${name}"`).all();
        const values = rows.flatMap((row) => Object.values(row));
        return values.some((value) => readText(value).toLowerCase().includes(text));
      });
  } finally {
    database.close();
  }
}

function readText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
}

describe("a participant's words", () => {
  it('are deleted from the transcript, the search and everything else that is stored', async () => {
    const id = await start(room);
    await stage.storeSegments(id, [
      segment(`1-${room}`, { text: 'Zanzibar is warm.' }),
      segment(`2-${room}`, { text: 'Is it?', identity: 'bea', trackId: 'TR_b' }),
    ]);
    await stage.service.call('POST', `/v1/rooms/${room}/transcription/stop`);
    await receiver.waitFor(({ body }) => body.event === 'transcription_completed');
    expect(tablesWith('zanzibar')).not.toEqual([]);
    const response = await forget('ada');
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ segments: 1, transcriptions: 1, running: 0, recordings: 0 });
    const segments = await stage.store.transcriptions.listSegments(id, { limit: 1000 });
    expect(segments).toMatchObject([{ text: 'Is it?' }]);
    const search = await stage.service.call('GET', '/v1/transcriptions/search?q=zanzibar');
    expect(search.json).toEqual({ hits: [], nextCursor: null });
    expect((await forget('ada')).json).toMatchObject({ segments: 0, transcriptions: 0 });
    expect(tablesWith('zanzibar')).toEqual([]);
    expect(tablesWith(room)).toEqual(expect.arrayContaining(['events', 'transcriptions']));
  });

  it('are deleted in every room on request, which the audit log records', async () => {
    const other = `other-${randomUUID()}`;
    await stage.open(other);
    for (const name of [room, other]) await stage.storeSegments(await start(name), [segment(`1-${name}`)]);
    expect((await forget('ada')).json).toEqual({ segments: 1, transcriptions: 1, running: 1, recordings: 0 });
    expect((await forget('ada', '?allRooms=true')).json).toMatchObject({ segments: 1, transcriptions: 1 });
    const audit = await stage.service.call('GET', `/v1/audit?roomId=${room}&limit=3`);
    const { entries }: AuditList = audit.json;
    expect(entries.slice(0, 2)).toMatchObject([
      {
        path: '/v1/rooms/:roomId/participants/:participantId/words',
        ids: { roomId: room, participantId: 'ada', allRooms: 'true' },
        result: 'done',
      },
      { ids: { roomId: room, participantId: 'ada' } },
    ]);
  });

  it('accept only true or false for all rooms', async () => {
    expect((await forget('ada', '?allRooms=yes')).status).toBe(400);
    expect((await forget('nobody', '?allRooms=false')).json).toMatchObject({ segments: 0 });
  });
});
