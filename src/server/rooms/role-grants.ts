import type { Role } from '../../contract/choices.ts';
import { ServiceError } from '../../contract/errors.ts';
import { MAX_METADATA_BYTES } from '../../contract/names.ts';
import type { ParticipantGrants } from '../platform/livekit/token-signer.ts';

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
  throw new ServiceError('invalid-request', `#/metadata ${detail}.`, {
    errors: [{ pointer: '#/metadata', detail }],
  });
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
