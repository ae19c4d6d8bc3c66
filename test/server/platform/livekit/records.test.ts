import { Codec, EgressInfo, EgressStatus, FileInfo, Room, TimedVersion } from '@livekit/protocol';
import { describe, expect, it } from 'vitest';
import { toEgress, toRoom } from '../../../../src/server/platform/livekit/records.ts';

describe('the record of a room', () => {
  it.each([
    ['with every field', fullRoom()],
    ['without any', new Room()],
  ])(
    'is its protobuf JSON with zero values, without the TURN password and not as broadcast, %s',
    (_name, room) => {
      const { turnPassword, ...expected } = room.toJson({ emitDefaultValues: true }) as Record<
        string,
        unknown
      >;
      expect(turnPassword).toBeTypeOf('string');
      expect(toRoom(room)).toEqual({ ...expected, activeBroadcast: false });
    },
  );
});

describe('the record of an egress', () => {
  it('has no file before one was stored, and no future instants', () => {
    const info = new EgressInfo({ egressId: 'EG_1', roomName: 'demo', status: EgressStatus.EGRESS_STARTING });
    info.fileResults = [new FileInfo({ filename: 'a.mp4' })];
    expect(toEgress(info)).toEqual({
      egressId: 'EG_1',
      room: 'demo',
      status: 'EGRESS_STARTING',
      startedAt: undefined,
      endedAt: undefined,
      mediaStartedAt: undefined,
      error: undefined,
      startId: undefined,
      streams: [],
      file: undefined,
    });
  });

  it.each([
    ['', 'End reason: CPU exhausted', 0, 'CPU exhausted'],
    [
      'Stop called before pipeline could start',
      'End reason: CPU exhausted',
      412,
      'Stop called before pipeline could start: CPU exhausted',
    ],
    ['CPU exhausted: 4.1 cores used', 'End reason: Failure', 403, 'CPU exhausted: 4.1 cores used'],
    ['', '', 503, 'error 503'],
    ['', 'End reason: StopEgress API', 0, undefined],
  ])('tells why its recorder ended: %j, %j, %i', (error, details, errorCode, told) => {
    expect(toEgress(new EgressInfo({ error, details, errorCode })).error).toBe(told);
  });

  it('has its media begin half a second after its recorder began to play', () => {
    const info = new EgressInfo({ status: EgressStatus.EGRESS_ACTIVE });
    info.fileResults = [new FileInfo({ filename: 'a.mp4', startedAt: 1_700_000_000_123_999_999n })];
    expect(toEgress(info)).toMatchObject({ mediaStartedAt: 1_700_000_000_623, file: undefined });
  });

  it('has the file of an older egress from its single result', () => {
    const file = new FileInfo({ filename: 'a.mp4', location: '/out/a.mp4', size: 1n, duration: 1_000_000n });
    const info = new EgressInfo({ result: { case: 'file', value: file } });
    expect(toEgress(info).file).toEqual({
      filename: 'a.mp4',
      location: '/out/a.mp4',
      sizeBytes: 1,
      durationMs: 1,
    });
  });

  it.each([
    ['as the recorder says', 11_000_000_000n, 10_000],
    ['up to the end of the egress, where the recorder puts its end in the future', 21_000_000_000n, 12_000],
  ])('has the length of its file %s', (_what, fileEndedAt, durationMs) => {
    const startedAt = 1_000_000_000n;
    const info = new EgressInfo({ status: EgressStatus.EGRESS_COMPLETE, endedAt: 13_000_000_000n });
    // Filled as livekit/egress does it: pkg/pipeline/controller.go, updateEndTime.
    const file = { startedAt, endedAt: fileEndedAt, duration: fileEndedAt - startedAt };
    info.fileResults = [new FileInfo({ filename: 'a.mp4', location: '/out/a.mp4', size: 1n, ...file })];
    expect(toEgress(info).file).toMatchObject({ durationMs });
  });

  it.each(Object.values(EgressStatus).filter((status) => typeof status === 'number'))(
    'has the name of status %i in LiveKit',
    (status) => {
      const json = new EgressInfo({ status }).toJson({ emitDefaultValues: true });
      expect(toEgress(new EgressInfo({ status })).status).toBe((json as { status: string }).status);
    },
  );
});

/** Fills a room by the message's own list of fields, so that a new field of a later LiveKit is noticed. */
function fullRoom(): Room {
  const room = new Room({
    enabledCodecs: [new Codec({ mime: 'audio/opus', fmtpLine: 'x' }), new Codec()],
    version: new TimedVersion({ unixMicro: 1_795_249_739_049_235n, ticks: 2 }),
  });
  const filled = new Set(Object.keys(room.toJson() as object));
  const values = Room.fields.list().flatMap((field, index): [string, unknown][] => {
    if (filled.has(field.jsonName)) return [];
    const sample = { string: 'text', number: index + 1, bigint: BigInt(index + 1), boolean: true };
    const zero: unknown = room[field.localName as keyof Room];
    return [[field.localName, sample[typeof zero as keyof typeof sample]]];
  });
  return Object.assign(room, Object.fromEntries(values));
}
