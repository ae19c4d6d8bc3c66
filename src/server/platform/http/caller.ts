import type { Scope } from '../../../contract/choices.ts';
import { ServiceError } from '../../../contract/errors.ts';
import { ROOT_KEY_ID } from '../../../contract/keys.ts';

/**
 * The keys that may call a signed route: those with one of the scopes, all keys, or only the root key. A key with the scope
 * `admin` may call everything that any scope allows.
 */
export type RouteScopes = readonly Scope[] | 'any' | 'root';

/** The owner of the key that signed a request. */
export type Caller = {
  readonly keyId: string;
  /** Undefined for the root key, which may do everything. */
  readonly scopes: readonly Scope[] | undefined;
};

export const ROOT_CALLER: Caller = { keyId: ROOT_KEY_ID, scopes: undefined };

/** Returns the caller of a signed route. */
export function requireCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new Error('This request has not been authenticated');
  return caller;
}

/** Throws insufficient-scope when the key may not call the route. */
export function requireScope(allowed: RouteScopes | undefined, caller: Caller | undefined): void {
  if (allowed === undefined || allowed === 'any') return;
  const { keyId, scopes } = requireCaller(caller);
  if (scopes === undefined) return;
  if (allowed === 'root') throw rootOnly();
  if (scopes.includes('admin') || allowed.some((scope) => scopes.includes(scope))) return;
  const [first = 'admin'] = allowed;
  throw new ServiceError(
    'insufficient-scope',
    `This needs an API key with the scope ${allowed.join(' or ')}; ${keyId} has ${scopes.join(', ')}.`,
    {
      hint: {
        text: 'make a key that has it, by the root key',
        command: `rtc keys create NAME --scope ${first}`,
      },
      extensions: { requiredScopes: allowed },
    },
  );
}

function rootOnly(): ServiceError {
  return new ServiceError('insufficient-scope', 'Only the root key of the service, API_KEY, may do this.', {
    hint: { text: 'sign with API_KEY and API_SECRET' },
    extensions: { requiredScopes: [ROOT_KEY_ID] },
  });
}
