import type { Role } from '../../contract/choices.ts';
import type { ParticipantGrants } from '../platform/livekit/token-signer.ts';

/**
 * LiveKit has no "may mute others" grant, and roomAdmin would also let a moderator kick and promote. So a moderator
 * mutes through the trusted back end; `canMuteOthers` goes into the token as a signed attribute.
 */
export type RoleGrants = { readonly grants: ParticipantGrants; readonly canMuteOthers: boolean };

const NOBODY: ParticipantGrants = {
  canPublish: false,
  canSubscribe: true,
  canPublishData: false,
  canUpdateOwnMetadata: false,
  roomAdmin: false,
};
const SPEAKER: ParticipantGrants = { ...NOBODY, canPublish: true, canPublishData: true };

export const ROLE_GRANTS: Readonly<Record<Role, RoleGrants>> = {
  host: { grants: { ...SPEAKER, roomAdmin: true }, canMuteOthers: true },
  moderator: { grants: SPEAKER, canMuteOthers: true },
  participant: { grants: SPEAKER, canMuteOthers: false },
  viewer: { grants: NOBODY, canMuteOthers: false },
};
