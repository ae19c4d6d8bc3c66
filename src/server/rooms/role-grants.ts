import type { Role } from '../../contract/choices.ts';
import type { ParticipantGrants } from '../platform/livekit/token-signer.ts';

/**
 * LiveKit has no grant to mute others, and roomAdmin would also let a moderator remove and promote people. Therefore a
 * moderator mutes through the trusted back end, and the token carries `canMuteOthers` as a signed attribute.
 */
export type RoleGrants = { readonly grants: ParticipantGrants; readonly canMuteOthers: boolean };

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
