import { ServiceError } from '../../contract/errors.ts';
import type { Participant, ParticipantPatch } from '../../contract/participants.ts';
import type { ParticipantChange } from '../platform/livekit/media-server.ts';
import { findParticipant, type ParticipantDeps, participantNotFound } from './find-participant.ts';
import { metadataText } from './metadata-text.ts';
import { attributesOf, ROLE_GRANTS } from './role-grants.ts';

export type ParticipantUpdate = {
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
  const participant = await findParticipant(deps, room, identity);
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
    if (!(error instanceof ServiceError) || error.code !== 'participant-not-found') throw error;
    throw participantNotFound(identity);
  }
}

/** LiveKit's limit for all attributes of a participant, names included, in bytes of UTF-8. */
const MAX_ATTRIBUTES_BYTES = 64 * 1024;
/** Prefix of the attributes that describe what the token allows. Only a change of the role changes them. */
const OWN_PREFIX = 'rtc.';

function refuseOwnAttributes(attributes: ParticipantPatch['attributes']): void {
  const own = Object.keys(attributes ?? {}).filter((name) => name.startsWith(OWN_PREFIX));
  if (own.length > 0) throw attributesError(`must not set ${own.join(', ')}: change the role instead`);
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
    ...Object.entries(role === undefined ? {} : attributesOf(role)),
  ]);
  const after = Object.entries({ ...present, ...changed }).filter(([, value]) => value !== '');
  const bytes = after.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (bytes <= MAX_ATTRIBUTES_BYTES) return changed;
  throw attributesError(
    `would make ${bytes} bytes of attributes; at most ${MAX_ATTRIBUTES_BYTES} are possible`,
  );
}

function attributesError(detail: string): ServiceError {
  return new ServiceError('invalid-request', `#/attributes ${detail}.`, {
    errors: [{ pointer: '#/attributes', detail }],
  });
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
