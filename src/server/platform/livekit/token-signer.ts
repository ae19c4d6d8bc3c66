/** Grants of a participant. Every grant is explicit, so that no default of the media server applies. */
export type ParticipantGrants = {
  readonly canPublish: boolean;
  /** The only sources that may be published; absent for all of them. */
  readonly canPublishSources?: readonly string[];
  readonly canSubscribe: boolean;
  readonly canPublishData: boolean;
  readonly canUpdateOwnMetadata: boolean;
  readonly roomAdmin: boolean;
  /** Other participants do not see it; for our own agents. */
  readonly hidden?: boolean;
  /** May send in the name of others; for our own agents. */
  readonly agent?: boolean;
};

export type TokenClaims = {
  readonly room: string;
  readonly identity: string;
  readonly name: string;
  readonly metadata: string | undefined;
  /** Absent for a person. */
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
