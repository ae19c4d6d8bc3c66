import { createHash } from 'node:crypto';
import { ROLES, type Role } from '../../contract/choices.ts';
import { ignoreCode } from '../../contract/errors.ts';
import { WAITING_ROOM_PREFIX } from '../../contract/names.ts';
import { parseJson, readMembers, readTexts } from '../../contract/unknown-value.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { ParticipantGrants, RoomConfig } from '../platform/livekit/token-signer.ts';

/*
 * The room of the media server in which people wait for another one. Whoever waits inside the room itself would be told
 * everybody's names. In this one everybody is hidden, publishes and receives nothing, and has no name: what the token of the
 * room itself needs is in signed attributes, so that the media server remembers it for as long as somebody waits.
 */

/** A person as a token of a room needs it. */
export type TokenPerson = {
  readonly room: string;
  readonly identity: string;
  readonly name: string;
  readonly role: Role;
  /** JSON text. */
  readonly metadata?: string | undefined;
  readonly canPublishSources?: readonly string[] | undefined;
  /** Lifetime of the token in seconds, unless the room ends earlier. */
  readonly ttl: number;
  /** The API key that asked for the token; undefined for the root key. */
  readonly keyId?: string | undefined;
};

/** Somebody in a waiting room. */
export type Waiting = {
  /** Id of the token that led there. */
  readonly id: string;
  readonly sid: string;
  readonly person: TokenPerson;
  /** Unix milliseconds. */
  readonly since: number;
  /** When the token expires, in Unix milliseconds. */
  readonly tokenUntil: number;
};

export function waitingRoomName(room: string): string {
  return WAITING_ROOM_PREFIX + createHash('sha256').update(room).digest('base64url');
}

export const WAITING_GRANTS: ParticipantGrants = {
  canPublish: false,
  canSubscribe: false,
  canPublishData: false,
  canUpdateOwnMetadata: false,
  roomAdmin: false,
  hidden: true,
};

/** LiveKit refuses more people than may wait. */
export function toWaitingConfig(maxParticipants: number): RoomConfig {
  return { maxParticipants, emptyTimeout: 60, departureTimeout: 20 };
}

const [WAITING, NAME, ROLE] = ['rtc.waiting', 'rtc.name', 'rtc.role'] as const;

type WaitingToken = { readonly id: string; readonly person: TokenPerson; readonly expiresAt: number };

/** Returns the attributes of a token that leads into the waiting room; the token keeps its metadata. */
export function toWaitingAttributes({ id, person, expiresAt }: WaitingToken) {
  const { room, name, role, canPublishSources, ttl, keyId } = person;
  return {
    [WAITING]: JSON.stringify({ id, room, canPublishSources, ttl, keyId, expiresAt }),
    [NAME]: name,
    [ROLE]: role,
  };
}

/** A participant of a waiting room, as records and events of the media server have it. */
export type WaitingRecord = {
  readonly sid: string;
  readonly identity: string;
  readonly metadata?: string | undefined;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  /** Unix milliseconds. */
  readonly joinedAt: number;
};

/** Returns undefined for somebody who is there without a token of ours for this waiting room. */
export function readWaiting(waitingRoom: string, record: WaitingRecord): Waiting | undefined {
  const { sid, identity, metadata, attributes = {}, joinedAt } = record;
  const claims = readMembers(parseJson(attributes[WAITING] ?? ''));
  const { id, room, ttl, keyId, canPublishSources, expiresAt } = claims;
  const role = ROLES.find((one) => one === attributes[ROLE]);
  const name = attributes[NAME];
  if (typeof id !== 'string' || typeof room !== 'string' || waitingRoomName(room) !== waitingRoom)
    return undefined;
  if (role === undefined || name === undefined || typeof ttl !== 'number') return undefined;
  const person: TokenPerson = {
    room,
    identity,
    name,
    role,
    ttl,
    ...(metadata === undefined || metadata === '' ? {} : { metadata }),
    ...(canPublishSources === undefined ? {} : { canPublishSources: readTexts(canPublishSources) }),
    ...(typeof keyId === 'string' ? { keyId } : {}),
  };
  return { id, sid, person, since: joinedAt, tokenUntil: Number(expiresAt) * 1000 };
}

type Person = { readonly room: string; readonly identity: string };

/** Disconnects somebody who waits, if the person does. */
export async function disconnectWaiting(
  { mediaServer }: { readonly mediaServer: Pick<MediaServer, 'removeParticipant'> },
  { room, identity }: Person,
): Promise<void> {
  await mediaServer
    .removeParticipant(waitingRoomName(room), identity)
    .catch(ignoreCode('participant-not-found'));
}

/** Disconnects everybody who waits for the room. */
export async function closeWaitingRoom(
  { mediaServer }: { readonly mediaServer: Pick<MediaServer, 'deleteRoom'> },
  room: string,
): Promise<void> {
  await mediaServer.deleteRoom(waitingRoomName(room)).catch(ignoreCode('room-not-found'));
}
