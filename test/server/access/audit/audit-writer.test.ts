import { describe, expect, it } from 'vitest';
import { AuditWriter } from '../../../../src/server/access/audit/audit-writer.ts';
import type { AuditRecord, AuditStore } from '../../../../src/server/access/store.ts';
import type { RecordedRequest } from '../../../../src/server/platform/http/register-route.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const request = (changes: Partial<RecordedRequest> = {}): RecordedRequest => ({
  isChange: true,
  occurredAt: 1000,
  keyId: 'root',
  method: 'DELETE',
  path: '/v1/rooms/:roomId',
  ids: { roomId: 'demo' },
  address: '203.0.113.0/24',
  requestId: 'one',
  status: 204,
  problem: undefined,
  ...changes,
});

/** A store in memory that can be unavailable, and records the sizes of its batches. */
function setUp() {
  const lost: number[] = [];
  const unkept: number[] = [];
  const logLines: LogLine[] = [];
  const clock = new ManualClock(1000);
  const state = { records: [] as AuditRecord[], batches: [] as number[], isUnavailable: false };
  const append: AuditStore['append'] = async (batch) => {
    await Promise.resolve();
    if (state.isUnavailable) throw new Error('the database is unavailable');
    state.batches.push(batch.length);
    state.records.push(...batch);
  };
  let count = 0;
  const next = (): string => {
    count += 1;
    return `${count}`;
  };
  const ids = { next };
  const store = { audit: { append } as AuditStore };
  return {
    state,
    clock,
    logLines,
    writer: new AuditWriter({
      ...{ store, clock, ids, log: collectingLog(logLines) },
      onLost: (count) => void lost.push(count),
      onUnkept: () => void unkept.push(1),
    }),
    lost,
    unkept,
  };
}

describe('the audit writer', () => {
  it('stores at most 60 refused requests of a key and minute, and tells how many it left out', async () => {
    const { state, writer, logLines, unkept } = setUp();
    const refused = { keyId: 'key_one', status: 403, problem: 'insufficient-scope' } as const;
    for (let n = 0; n < 100; n += 1) writer.record(request(refused));
    writer.record(request({ ...refused, keyId: 'key_two' }));
    writer.record(request({ keyId: 'key_one' }));
    for (let n = 0; n < 100; n += 1) writer.record(request({ ...refused, keyId: 'root' }));
    writer.record(request({ ...refused, occurredAt: 61_000 }));
    await writer.flush();
    const stored = (keyId: string) => state.records.filter((record) => record.keyId === keyId).length;
    expect([stored('key_one'), stored('key_two'), stored('root')]).toEqual([62, 1, 100]);
    expect(unkept).toHaveLength(40);
    expect(logLines.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({ fields: { keyId: 'key_one', entries: 40 } }),
    ]);
  });

  it('stores entries without a request, those of the same moment together', async () => {
    const { state, writer } = setUp();
    for (let n = 0; n < 100; n += 1) writer.record(request());
    await expect.poll(() => state.records).toHaveLength(100);
    expect(state.batches.length).toBeLessThan(10);
    const { isChange: _, ...stored } = request();
    expect(state.records[0]).toEqual({
      ...stored,
      id: 'aud_1',
      room: 'demo',
      problem: null,
      expiresAt: null,
    });
    await writer.close();
  });

  it('has stored everything that was recorded before, once flush has resolved', async () => {
    const { state, writer } = setUp();
    for (let n = 0; n < 1200; n += 1) writer.record(request());
    await writer.flush();
    expect(state.records).toHaveLength(1200);
    expect(Math.max(...state.batches)).toBe(500);
    await writer.close();
  });

  it('keeps entries while the database does not respond, and stores each once when it is back', async () => {
    const { state, writer, clock } = setUp();
    state.isUnavailable = true;
    writer.record(request({ requestId: 'early' }));
    await expect(writer.flush()).rejects.toThrow('unavailable');
    await expect.poll(() => clock.sleeping).toBe(1);
    state.isUnavailable = false;
    clock.advance(60_000);
    await expect.poll(() => state.records.map(({ requestId }) => requestId)).toEqual(['early']);
    await writer.close();
    expect(state.records).toHaveLength(1);
  });

  it('loses entries beyond 10,000 waiting ones, and reports how many', async () => {
    const { state, writer, logLines, lost } = setUp();
    state.isUnavailable = true;
    for (let n = 0; n < 10_003; n += 1) writer.record(request());
    state.isUnavailable = false;
    await writer.flush();
    expect(state.records).toHaveLength(10_000);
    expect(logLines).toContainEqual(expect.objectContaining({ level: 'error', fields: { entries: 3 } }));
    expect(lost).toEqual([1, 1, 1]);
    await writer.close();
  });

  it('stores waiting entries when it closes, or reports how many were lost', async () => {
    const kept = setUp();
    kept.writer.record(request());
    await kept.writer.close();
    expect(kept.state.records).toHaveLength(1);
    const lost = setUp();
    lost.state.isUnavailable = true;
    lost.writer.record(request());
    await lost.writer.close();
    expect(lost.logLines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { entries: 1 } },
    ]);
    expect(lost.lost).toEqual([1]);
  });

  it('replaces characters that no database stores, and cuts texts that are too long', async () => {
    const { state, writer } = setUp();
    writer.record(request({ ids: { roomId: `a\0b${'x'.repeat(1000)}` } }));
    await writer.close();
    const { room = '', ids } = state.records[0] ?? {};
    expect(room).toBe(`a\uFFFDb${'x'.repeat(253)}`);
    expect(ids).toEqual({ roomId: room });
  });
});
