/** What a participant may do; every grant explicit, nothing left to a default of the media server. */
export type ParticipantGrants = {
  readonly canPublish: boolean;
  readonly canSubscribe: boolean;
  readonly canPublishData: boolean;
  readonly canUpdateOwnMetadata: boolean;
  readonly roomAdmin: boolean;
};

export type TokenClaims = {
  readonly room: string;
  readonly identity: string;
  readonly name: string;
  readonly metadata: string | undefined;
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
