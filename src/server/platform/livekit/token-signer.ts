/** What a participant may do; every grant explicit, nothing left to a default of the media server. */
export type ParticipantGrants = {
  readonly canPublish: boolean;
  readonly canSubscribe: boolean;
  readonly canPublishData: boolean;
  readonly canUpdateOwnMetadata: boolean;
  readonly roomAdmin: boolean;
  /** Not listed to others; for machinery of ours. */
  readonly hidden?: boolean;
  /** May speak in others' name; for machinery of ours. */
  readonly agent?: boolean;
};

export type TokenClaims = {
  readonly room: string;
  readonly identity: string;
  readonly name: string;
  readonly metadata: string | undefined;
  /** Absent: a person. */
  readonly kind?: 'agent';
  readonly attributes: Readonly<Record<string, string>>;
  readonly grants: ParticipantGrants;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Unix seconds. */
  readonly expiresAt: number;
};

/** Signs LiveKit access tokens. */
export interface TokenSigner {
  sign(claims: TokenClaims): Promise<string>;
}
