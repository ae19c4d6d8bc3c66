import type { RtcClient } from '../../../client/client.ts';
import { RtcError } from '../../../client/rtc-error.ts';
import type { OwnKey } from '../../../contract/keys.ts';
import type { Context } from '../../framework/context.ts';
import { formatRelative } from '../../terminal/time.ts';
import { CHECK_TIMEOUT_MS, type Check, failedCheck, ok, skipped } from './checks.ts';

const CHECK = 'API key';
/** Time to make another one, and to give it to whoever uses this one. */
const ENDS_SOON_MS = 7 * 86_400_000;

/** Says what the key may do. A key that lacks a scope is no fault: it is what it was made for. */
export async function checkKey({
  context,
  client,
}: {
  readonly context: Context;
  readonly client: RtcClient;
}): Promise<Check> {
  const { signal, clock } = context.io;
  try {
    const key = await client.keys.self({ signal, timeoutMs: CHECK_TIMEOUT_MS });
    // Whatever answers so is not this service, which other checks say.
    if (!Array.isArray(key.scopes)) return skipped(CHECK, 'the answer does not tell');
    return describeKey(key, clock());
  } catch (error) {
    if (!(error instanceof RtcError) || error.code === 'aborted') throw error;
    if (error.status === 404) return skipped(CHECK, 'this service is too old to tell', 'update it');
    return failedCheck(CHECK, error, clock());
  }
}

function describeKey({ id, name, isRoot, scopes, expiresAt }: OwnKey, nowMs: number): Check {
  if (isRoot) return ok(CHECK, 'the root key, which may do everything');
  const said = `${id} (${name}) has the scopes ${scopes.join(', ')}`;
  if (expiresAt === null) return ok(CHECK, said);
  const endsAt = Date.parse(expiresAt);
  const detail = `${said}; it ends ${formatRelative(endsAt, nowMs)}`;
  if (endsAt - nowMs > ENDS_SOON_MS) return ok(CHECK, detail);
  return {
    check: CHECK,
    status: 'warning',
    detail,
    next: 'make another one in time, by the root key: rtc keys create',
  };
}
