import { ListRoomsResponse } from '@livekit/protocol';
import { Room } from 'livekit-server-sdk';
import { describe, expect, test } from 'vitest';
import { toRoom } from '../../../../src/server/platform/livekit/records.ts';
import { RoomListReader } from '../../../../src/server/platform/livekit/room-list-reader.ts';

function newRoom(number: number, fields: Partial<Pick<Room, 'numParticipants' | 'metadata'>> = {}): Room {
  const enabledCodecs = [{ mime: 'audio/opus' }, { mime: 'video/VP8' }];
  return new Room({
    ...{ sid: `RM_${number}`, name: `room-${number}`, numParticipants: 1, enabledCodecs },
    ...{ creationTime: 1_790_000_000n, metadata: 'x'.repeat(number * 50), ...fields },
  });
}

function makeList(...rooms: readonly Room[]): Uint8Array {
  return new ListRoomsResponse({ rooms: [...rooms] }).toBinary();
}

describe('the reader of lists of rooms', () => {
  test('returns the same rooms as the decoder of LiveKit, in the order of each list', () => {
    const reader = new RoomListReader();
    const rooms = [1, 2, 3, 400].map((number) => newRoom(number));
    const changed = newRoom(2, { numParticipants: 7 });
    const lists = [
      [...rooms],
      rooms.toReversed(),
      rooms.map((room) => (room.sid === changed.sid ? changed : room)),
      rooms.slice(1),
      [],
      [...rooms, newRoom(5)],
    ];
    for (const list of lists) expect(reader.readAll(makeList(...list))).toEqual(list.map(toRoom));
  });

  test('decodes only the rooms that have changed since the previous list', () => {
    const reader = new RoomListReader();
    const [first, second] = reader.readAll(makeList(newRoom(1), newRoom(2)));
    const [secondAgain, firstAgain] = reader.readAll(makeList(newRoom(2), newRoom(1, { metadata: 'y' })));
    expect(secondAgain).toBe(second);
    expect(firstAgain).not.toBe(first);
    expect(firstAgain?.metadata).toBe('y');
  });

  test('notices a change that keeps the length of a room', () => {
    const reader = new RoomListReader();
    reader.readAll(makeList(newRoom(1, { numParticipants: 3 })));
    expect(reader.readAll(makeList(newRoom(1, { numParticipants: 4 })))[0]?.numParticipants).toBe(4);
  });

  test('forgets rooms that are not in a list', () => {
    const reader = new RoomListReader();
    const [room] = reader.readAll(makeList(newRoom(1)));
    reader.readAll(makeList(newRoom(2)));
    expect(reader.readAll(makeList(newRoom(1)))[0]).not.toBe(room);
  });

  test('reads rooms that have no sid or the same one', () => {
    const reader = new RoomListReader();
    const list = [new Room({ name: 'without' }), newRoom(1), newRoom(1, { numParticipants: 9 })];
    for (const _ of [1, 2]) expect(reader.readAll(makeList(...list))).toEqual(list.map(toRoom));
  });

  test('reads some rooms, and decodes only those that are not as in the last list of all rooms', () => {
    const reader = new RoomListReader();
    const [first, second] = reader.readAll(makeList(newRoom(1), newRoom(2)));
    const changed = newRoom(2, { metadata: 'y' });
    const [changedAgain, firstAgain, third] = reader.readSome(makeList(changed, newRoom(1), newRoom(3)));
    expect(firstAgain).toBe(first);
    expect(changedAgain).toEqual(toRoom(changed));
    expect(third).toEqual(toRoom(newRoom(3)));
    expect(reader.readAll(makeList(newRoom(2)))[0]).toBe(second);
  });

  test('reads some rooms before the first list of all rooms', () => {
    expect(new RoomListReader().readSome(makeList(newRoom(1)))).toEqual([toRoom(newRoom(1))]);
  });

  test('skips a field of the list that it does not know', () => {
    const unknown = Uint8Array.from([0x12, 1, 0x78]);
    const list = Buffer.concat([makeList(newRoom(1)), unknown]);
    expect(new RoomListReader().readAll(list)).toEqual([toRoom(newRoom(1))]);
  });

  test('rejects a list that was cut off', () => {
    const list = makeList(newRoom(1), newRoom(2));
    expect(() => new RoomListReader().readAll(list.subarray(0, -3))).toThrow();
  });
});
