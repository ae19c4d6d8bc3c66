import { ListParticipantsResponse, ParticipantInfo, ParticipantInfo_Kind } from '@livekit/protocol';
import { describe, expect, it } from 'vitest';
import {
  entriesFrom,
  entriesFromJson,
  readEntries,
} from '../../../../src/server/platform/livekit/records.ts';

const LIST = new ListParticipantsResponse({
  participants: [
    new ParticipantInfo(),
    new ParticipantInfo({
      ...{ sid: 'PA_1', identity: 'caff\u00e8', name: 'Ada', metadata: 'x'.repeat(70_000) },
      ...{ joinedAt: 1_700_000_000n, joinedAtMs: 1_700_000_000_123n, version: 4_294_967_295 },
      ...{
        attributes: { 'rtc.role': 'host' },
        permission: { canPublish: true },
        tracks: [{ sid: 'TR_1' }, {}],
      },
    }),
    new ParticipantInfo({ sid: 'PA_2', identity: 'ghost', permission: { hidden: true } }),
    new ParticipantInfo({ sid: 'PA_3', identity: 'EG_1', kind: ParticipantInfo_Kind.EGRESS }),
    new ParticipantInfo({ sid: 'PA_4', identity: 'agent', kind: ParticipantInfo_Kind.AGENT }),
  ],
});

describe('a list of participants', () => {
  it('has the same entries from protobuf, from JSON and from decoded records', () => {
    const decoded = entriesFrom(LIST.participants).map(({ read, ...entry }) => ({
      ...entry,
      record: read(),
    }));
    const listed = (entries: ReturnType<typeof readEntries>) =>
      entries.map(({ read, ...entry }) => ({ ...entry, record: read() }));
    expect(decoded.map(({ identity, isSystem }) => [identity, isSystem])).toEqual([
      ['', false],
      ['caff\u00e8', false],
      ['ghost', true],
      ['EG_1', true],
      ['agent', false],
    ]);
    expect(listed(entriesFromJson(LIST.toJsonString()))).toEqual(decoded);
    // The empty record takes no bytes; a list never has one.
    expect(listed(readEntries(LIST.toBinary())).filter(({ sid }) => sid !== '')).toEqual(decoded.slice(1));
  });

  it('is refused when it is cut off or no list', () => {
    const bytes = LIST.toBinary();
    expect(() => readEntries(bytes.subarray(0, bytes.length - 1))).toThrow('premature EOF');
    expect(() => readEntries(Buffer.from('<html>'))).toThrow();
    expect(() => readEntries(Buffer.alloc(20, 0xff))).toThrow('invalid varint');
    expect(readEntries(new Uint8Array())).toEqual([]);
  });
});
