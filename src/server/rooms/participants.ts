import type { Role } from '../../contract/choices.ts';
import { hasCode, ServiceError } from '../../contract/errors.ts';
import { MAX_METADATA_BYTES } from '../../contract/names.ts';
import { MOST_LISTED } from '../../contract/paging.ts';
import {
  MOST_MUTED,
  type Participant,
  type ParticipantList,
  type ParticipantListQuery,
  type ParticipantPatch,
  type RoomMute,
  type RoomMuted,
} from '../../contract/participants.ts';
import { cursorCodec, readPage } from '../platform/http/read-page.ts';
import { refusedField } from '../platform/http/refusals.ts';
import { forEachConcurrently } from '../platform/jobs/concurrently.ts';
import {
  findParticipant,
  type ParticipantChange,
  type ParticipantEntry,
  readRecords,
} from '../platform/livekit/media-server.ts';
import type { ParticipantGrants } from '../platform/livekit/token-signer.ts';
import { type BlockIdentityDeps, type BlockRequest, blockIdentity } from './blocks/blocks.ts';
import { getRoom, type MediaDeps } from './rooms.ts';
import { disconnectWaiting } from './waiting-room.ts';

export type ParticipantDeps = MediaDeps & {
  /** Returns which of these sids have left: a media server continues to list the participants of a dead process. */
  readonly findDeparted: (sids: readonly string[]) => Promise<ReadonlySet<string>>;
};

/** Lists who is in the room, without system participants and in no order. Throws room-not-found. */
export async function listPresent(deps: ParticipantDeps, room: string): Promise<readonly ParticipantEntry[]> {
  return await withoutDeparted(deps, await listEntries(deps, room));
}

async function listEntries(deps: MediaDeps, room: string): Promise<readonly ParticipantEntry[]> {
  const all = await deps.mediaServer.listParticipantEntries(room);
  // The media server returns an empty list for an unknown room.
  if (all.length === 0) await getRoom(deps, room);
  return all.filter(({ isSystem }) => !isSystem);
}

async function withoutDeparted(
  { findDeparted }: ParticipantDeps,
  entries: readonly ParticipantEntry[],
): Promise<readonly ParticipantEntry[]> {
  const left = await findDeparted(entries.map(({ sid }) => sid));
  return entries.filter(({ sid }) => !left.has(sid));
}

const CURSOR = cursorCodec('participants', 'string');

/**
 * Lists a page by identity; without `limit` and `cursor` everyone, as far as one response can have them. The media server has
 * neither an order nor pages: a page reads the list, and decodes only what it shows. It may be shorter than its limit, because
 * those who have left are taken off it. Throws room-not-found.
 */
export async function listParticipants(
  deps: ParticipantDeps,
  room: string,
  { limit, cursor }: ParticipantListQuery,
): Promise<ParticipantList> {
  const { rows, nextCursor } = await readPage(
    CURSOR,
    { cursor, limit: limit ?? MOST_LISTED },
    {
      read: async ({ after: [after] = [''], limit: most }) =>
        (await listEntries(deps, room))
          .filter(({ identity }) => identity > after)
          .toSorted((a, b) => (a.identity < b.identity ? -1 : 1))
          .slice(0, most),
      locate: ({ identity }) => [identity] as const,
    },
  );
  const participants = await readRecords(await withoutDeparted(deps, rows));
  const isWhole = limit === undefined && cursor === undefined && nextCursor === null;
  return { participants, ...(isWhole ? {} : { nextCursor }) };
}

/** Returns a participant. Throws room-not-found or participant-not-found. */
async function getParticipant(deps: ParticipantDeps, room: string, identity: string): Promise<Participant> {
  const participant = await findListed(deps, room, identity);
  if (participant !== undefined) return participant;
  await getRoom(deps, room);
  throw participantNotFound(identity);
}

async function findListed(
  { mediaServer, findDeparted }: ParticipantDeps,
  room: string,
  identity: string,
): Promise<Participant | undefined> {
  const participant = await findParticipant(mediaServer, room, identity);
  if (participant === undefined || !isListed(participant)) return undefined;
  return (await findDeparted([participant.sid])).has(participant.sid) ? undefined : participant;
}

export function participantNotFound(identity: string): ServiceError {
  const note = SID.test(identity) ? ' A participant is named by identity here, and not by sid.' : '';
  return new ServiceError(
    'participant-not-found',
    `There is no participant ${JSON.stringify(identity)} in this room.${note}`,
  );
}

/** Recorders and hidden agents are system participants and not listed. Other agents are listed. */
function isListed(participant: Participant): boolean {
  return participant.kind !== 'EGRESS' && participant.permission?.hidden !== true;
}

/** Form of the sids that the media server generates for participants. */
const SID = /^PA_\w{6,}$/;

type ParticipantUpdate = {
  readonly room: string;
  readonly identity: string;
  readonly patch: ParticipantPatch;
};

/**
 * Updates a participant and returns the new state. LiveKit notifies everyone in the room, and gives the participant a new
 * token with the changed grants, which the client uses to reconnect. Throws room-not-found, participant-not-found and
 * invalid-request.
 */
export async function updateParticipant(
  deps: ParticipantDeps,
  { room, identity, patch }: ParticipantUpdate,
): Promise<Participant> {
  const metadata = patch.metadata === undefined ? undefined : metadataText(patch.metadata);
  refuseOwnAttributes(patch.attributes);
  // The media server responds for an absent participant only after 3 s.
  const participant = await getParticipant(deps, room, identity);
  const attributes = changedAttributes(participant, patch);
  const change: ParticipantChange = {
    name: patch.name,
    metadata,
    attributes,
    permission: changedPermission(participant, patch),
  };
  if (Object.values(change).every((each) => each === undefined)) return participant;
  try {
    return await deps.mediaServer.updateParticipant(room, identity, change);
  } catch (error) {
    if (!hasCode(error, 'participant-not-found')) throw error;
    throw participantNotFound(identity);
  }
}

/** LiveKit's limit for all attributes of a participant, names included, in bytes of UTF-8. */
const MAX_ATTRIBUTES_BYTES = 64 * 1024;

/** Prefix of the attributes that describe what the token allows. Only a change of the role changes them. */
const OWN_PREFIX = 'rtc.';

function refuseOwnAttributes(attributes: ParticipantPatch['attributes']): void {
  const own = Object.keys(attributes ?? {}).filter((name) => name.startsWith(OWN_PREFIX));
  if (own.length > 0)
    throw refusedField('#/attributes', `must not set ${own.join(', ')}: change the role instead`);
}

/** Returns the changed attributes, with an empty text for those that are removed. */
function changedAttributes(
  { attributes: present }: Participant,
  { attributes, role }: ParticipantPatch,
): Readonly<Record<string, string>> | undefined {
  if (attributes === undefined && role === undefined) return undefined;
  const given = Object.entries(attributes ?? {}).map(([name, value]) => [name, value ?? ''] as const);
  const changed = Object.fromEntries([
    ...given,
    ...Object.entries(role === undefined ? {} : toRoleAttributes(role)),
  ]);
  const after = Object.entries({ ...present, ...changed }).filter(([, value]) => value !== '');
  const bytes = after.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (bytes <= MAX_ATTRIBUTES_BYTES) return changed;
  throw refusedField(
    '#/attributes',
    `would make ${bytes} bytes of attributes; at most ${MAX_ATTRIBUTES_BYTES} are possible`,
  );
}

/** LiveKit replaces all permissions at once, so permissions that no role decides are sent unchanged. */
function changedPermission(
  { permission }: Participant,
  { role }: ParticipantPatch,
): ParticipantChange['permission'] {
  if (role === undefined) return undefined;
  const { canPublish, canSubscribe, canPublishData, canUpdateOwnMetadata } = ROLE_GRANTS[role].grants;
  return {
    hidden: false,
    ...permission,
    canPublish,
    canSubscribe,
    canPublishData,
    canUpdateMetadata: canUpdateOwnMetadata,
  };
}

type MuteRequest = { readonly room: string; readonly identity: string; readonly trackSid: string };

/**
 * Mutes a track. Reads the participant first: the media server responds for an unknown participant only after 3 s, and
 * reports success for an unknown track. Throws room-not-found, participant-not-found or track-not-found.
 */
export async function muteParticipant(deps: ParticipantDeps, request: MuteRequest): Promise<void> {
  await requireTrack(deps, request);
  await deps.mediaServer.muteTrack(request.room, request.identity, request.trackSid);
}

/**
 * Unmutes a track. Throws the errors of muteParticipant, and conflict when the media server lets only participants unmute
 * themselves.
 */
export async function unmuteParticipant(deps: ParticipantDeps, request: MuteRequest): Promise<void> {
  await requireTrack(deps, request);
  try {
    await deps.mediaServer.unmuteTrack(request.room, request.identity, request.trackSid);
  } catch (cause) {
    if (!hasCode(cause, 'conflict')) throw cause;
    throw new ServiceError('conflict', 'The media server lets only participants unmute themselves.', {
      cause,
      hint: { text: "set room.enable_remote_unmute in LiveKit's configuration, or ask the participant" },
    });
  }
}

async function requireTrack(deps: ParticipantDeps, { room, identity, trackSid }: MuteRequest): Promise<void> {
  const participant = await getParticipant(deps, room, identity);
  if (participant.tracks.some((track) => track.sid === trackSid)) return;
  throw new ServiceError(
    'track-not-found',
    `The participant publishes no track ${JSON.stringify(trackSid)}.`,
  );
}

type Target = RoomMuted['muted'][number];

const REQUESTS_AT_ONCE = 8;

/**
 * Mutes the published tracks that are not muted, up to MOST_MUTED of them. Tracks that end in the meantime are left out. After
 * an error some tracks may be muted: the same request again mutes the others. Throws room-not-found.
 */
export async function muteRoom(
  deps: ParticipantDeps,
  room: string,
  { except = [], sources }: RoomMute,
): Promise<RoomMuted> {
  const excluded = new Set(except);
  const wanted = sources && new Set<string>(sources.map((source) => source.toUpperCase()));
  const present = (await listPresent(deps, room)).filter(({ identity }) => !excluded.has(identity));
  const found = (await readRecords(present)).flatMap(({ identity, tracks }) =>
    tracks
      .filter(({ muted, source }) => !muted && (wanted === undefined || wanted.has(source)))
      .map(({ sid }): Target => ({ identity, trackSid: sid })),
  );
  const targets = found.slice(0, MOST_MUTED);
  const muted = new Set<Target>();
  await forEachConcurrently(targets, REQUESTS_AT_ONCE, async (target) => {
    if (await mute(deps, room, target)) muted.add(target);
  });
  return {
    muted: targets.filter((target) => muted.has(target)),
    ...(found.length > targets.length ? { mutedTruncated: true } : {}),
  };
}

/** Returns false when the track or its publisher is gone. */
async function mute({ mediaServer }: ParticipantDeps, room: string, target: Target): Promise<boolean> {
  const { identity, trackSid } = target;
  try {
    await mediaServer.muteTrack(room, identity, trackSid);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'track-not-found') return false;
    if (error.code !== 'media-server-unavailable') throw error;
    // The media server responds with this error also for a participant who has left.
    if ((await findParticipant(mediaServer, room, identity)) !== undefined) throw error;
    return false;
  }
}

type Removal = {
  readonly room: string;
  readonly identity: string;
  /** How long the identity is also blocked, and by whom. */
  readonly block?: BlockRequest | undefined;
};

/**
 * Removes a participant. Throws room-not-found or participant-not-found, except with a block, which also applies to somebody
 * who has left or has not joined yet and may be key-limit-reached. Returns false when nobody was removed.
 *
 * The block is stored first: a participant who joins before that can be removed now, and one who joins later is removed when
 * the media server reports the join.
 */
export async function removeParticipant(
  deps: ParticipantDeps & BlockIdentityDeps,
  { room, identity, block }: Removal,
): Promise<boolean> {
  if (block === undefined) {
    // Throws for somebody who is not there, whom the media server would remove without an error.
    await getParticipant(deps, room, identity);
    await deps.mediaServer.removeParticipant(room, identity);
    return true;
  }
  await blockIdentity(deps, { room, identity }, block);
  const [present] = await Promise.all([
    findListed(deps, room, identity),
    disconnectWaiting(deps, { room, identity }),
  ]);
  if (present === undefined) return false;
  try {
    await deps.mediaServer.removeParticipant(room, identity);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return hasCode(error, 'participant-not-found', 'room-not-found');
}

/**
 * LiveKit has no grant to mute others, and roomAdmin would also let a moderator remove and promote people. Therefore a
 * moderator mutes through the trusted back end, and the token carries `canMuteOthers` as a signed attribute.
 */
type RoleGrants = { readonly grants: ParticipantGrants; readonly canMuteOthers: boolean };

const VIEWER: ParticipantGrants = {
  canPublish: false,
  canSubscribe: true,
  canPublishData: false,
  canUpdateOwnMetadata: false,
  roomAdmin: false,
};

const SPEAKER: ParticipantGrants = { ...VIEWER, canPublish: true, canPublishData: true };

export const ROLE_GRANTS: Readonly<Record<Role, RoleGrants>> = {
  host: { grants: { ...SPEAKER, roomAdmin: true }, canMuteOthers: true },
  moderator: { grants: SPEAKER, canMuteOthers: true },
  participant: { grants: SPEAKER, canMuteOthers: false },
  viewer: { grants: VIEWER, canMuteOthers: false },
};

/** Attributes that describe what a role may do, for clients and for our events. */
export function toRoleAttributes(role: Role): Readonly<Record<string, string>> {
  return { 'rtc.role': role, 'rtc.canMuteOthers': String(ROLE_GRANTS[role].canMuteOthers) };
}

/**
 * Returns a participant's metadata as JSON text, as LiveKit stores it. Throws invalid-request for more than LiveKit's limit.
 */
export function metadataText(metadata: Readonly<Record<string, unknown>>): string {
  const text = stringify(metadata);
  if (text !== undefined && Buffer.byteLength(text) <= MAX_METADATA_BYTES) return text;
  const detail =
    text === undefined ? 'is nested too deeply' : `must be at most ${MAX_METADATA_BYTES} bytes as JSON`;
  throw refusedField('#/metadata', detail);
}

/**
 * Returns undefined when the value is nested so deeply that JSON.stringify runs out of stack. JSON.parse has no such limit.
 */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
