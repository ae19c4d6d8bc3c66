import type { ErrorCode } from '../../../contract/errors.ts';
import type { RouteScopes } from '../http/caller.ts';
import type { Route, Security } from '../http/route.ts';
import type { JsonObject } from './schema-document.ts';

/* Describes how requests are signed, and which API keys may call a route. */

/** Errors of every signed route, before its handler runs: any key may call some routes. */
export const SIGNED_ERRORS: readonly ErrorCode[] = [
  'missing-credentials',
  'invalid-api-key',
  'timestamp-out-of-window',
  'invalid-signature',
  'insufficient-scope',
];
export const SECURITY: Readonly<Record<Security, readonly JsonObject[]>> = {
  signed: [{ apiKey: [], timestamp: [], signature: [] }],
  'media-server': [],
  public: [],
};

export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The API key: API_KEY, or one that was made (key_…)',
  },
  timestamp: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Timestamp',
    description: "Unix time in seconds, at most 300 s off the server's clock",
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Signature',
    description: 'Hex HMAC-SHA256 of the canonical string, keyed with the secret of the key (API_SECRET)',
  },
};

/** Describes scopes for programs that read the document: a list of which a key needs one, or `any`, or `root`. */
export function scopesOf({ scopes }: Route): JsonObject {
  if (scopes === undefined) return {};
  return { 'x-scopes': typeof scopes === 'string' ? [scopes] : scopes };
}

/** Returns the description of the route, and which API keys may call it. */
export function descriptionOf({ description, scopes }: Route): JsonObject {
  const parts = [description, scopes === undefined ? undefined : scopeSentence(scopes)];
  const text = parts.filter((part) => part !== undefined).join('\n\n');
  return text === '' ? {} : { description: text };
}

function scopeSentence(scopes: RouteScopes): string {
  if (scopes === 'any') return 'API key: any.';
  if (scopes === 'root') return 'API key: the root key alone.';
  return `API key: with the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

/** Returns the errors of a signed route. A key beside the root key may have to be read from the database. */
export function signedErrorsOf({ security, scopes }: Route): readonly ErrorCode[] {
  if (security !== 'signed') return [];
  const own =
    scopes === 'any' ? SIGNED_ERRORS.filter((code) => code !== 'insufficient-scope') : SIGNED_ERRORS;
  return [...own, 'storage-unavailable'];
}
