import { ServiceError } from '../../contract/errors.ts';
import {
  MAX_LOSSY_DATA_BYTES,
  MAX_RELIABLE_DATA_BYTES,
  type RoomData,
  type RoomDataSent,
} from '../../contract/room-data.ts';
import { listParticipants, type ParticipantDeps, participantNotFound } from './find-participant.ts';

/**
 * Sends data to participants of the room. Identities that are not in the room are left out, because participants may leave
 * at any time. Throws room-not-found, participant-not-found when none of the identities is in the room, and invalid-request.
 */
export async function sendData(
  deps: ParticipantDeps,
  room: string,
  message: RoomData,
): Promise<RoomDataSent> {
  const { kind = 'reliable', topic, destinationIdentities } = message;
  const data = toBytes(message);
  const limit = kind === 'lossy' ? MAX_LOSSY_DATA_BYTES : MAX_RELIABLE_DATA_BYTES;
  if (data.length > limit) throw dataError(`is ${data.length} bytes; at most ${limit} can be sent ${kind}`);
  // The media server responds for an unknown room only after 3 s.
  const present = (await listParticipants(deps, room)).map(({ identity }) => identity);
  if (destinationIdentities === undefined) {
    if (present.length > 0) await deps.mediaServer.sendData(room, { data, kind, topic, identities: [] });
    return { sentTo: present };
  }
  const wanted = new Set(destinationIdentities);
  const identities = present.filter((identity) => wanted.has(identity));
  // For LiveKit, an empty list of identities means everyone.
  if (identities.length === 0) throw noneInRoom(destinationIdentities);
  await deps.mediaServer.sendData(room, { data, kind, topic, identities });
  return { sentTo: identities };
}

function noneInRoom(identities: readonly string[]): ServiceError {
  const [only] = identities;
  if (identities.length === 1 && only !== undefined) return participantNotFound(only);
  return new ServiceError('participant-not-found', 'None of these identities is in this room.');
}

function toBytes({ data, encoding }: RoomData): Buffer {
  if (encoding !== 'base64') return Buffer.from(data);
  const bytes = Buffer.from(data, 'base64');
  // Buffer ignores characters that are not base64.
  if (bytes.toString('base64') !== data) throw dataError('must be base64 with padding');
  return bytes;
}

function dataError(detail: string): ServiceError {
  return new ServiceError('invalid-request', `#/data ${detail}.`, {
    errors: [{ pointer: '#/data', detail }],
  });
}
