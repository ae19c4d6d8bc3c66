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
 * The participant after the change. LiveKit tells everyone in the room, and gives the participant a new token with the
 * changed grants, which its client uses to reconnect. Throws room-not-found, participant-not-found and invalid-request.
 */
export async function updateParticipant(
  deps: ParticipantDeps,
  { room, identity, patch }: ParticipantUpdate,
): Promise<Participant> {
  const metadata = patch.metadata === undefined ? undefined : metadataText(patch.metadata);
  refuseOwnAttributes(patch.attributes);
  // For someone who is not there the media server responds only after 3 s.
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
/** They say what the token allows: only the role changes them. */
const OWN_PREFIX = 'rtc.';

function refuseOwnAttributes(attributes: ParticipantPatch['attributes']): void {
  const own = Object.keys(attributes ?? {}).filter((name) => name.startsWith(OWN_PREFIX));
  if (own.length > 0) throw attributesError(`must not set ${own.join(', ')}: change the role instead`);
}

/** The attributes that change, an empty text for those that go. */
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

/** LiveKit replaces all permissions at once: those that no role decides stay as they are. */
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
