import { ServiceError } from '../../../../contract/errors.ts';
import type { Hint } from '../../../../contract/hint.ts';
import { shellQuote } from '../../../../contract/shell-quote.ts';

/** Explains to the operator why the database of `url` cannot be opened. Names the host and user, never the password. */
export function explainStart(error: unknown, url: string): unknown {
  const cause = error instanceof ServiceError ? error.cause : error;
  // The error already has an explanation.
  if (cause === undefined) return error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const text = cause instanceof Error ? cause.message : '';
  const { address, user, database } = describe(url);
  const { reason, hint, retryable = false } = explain(code, text, { address, user, database });
  return new ServiceError('storage-unavailable', reason, {
    cause,
    retryable,
    ...(hint === undefined ? {} : { hint }),
  });
}

type Target = { readonly address: string; readonly user: string; readonly database: string };

type Explanation = { readonly reason: string; readonly hint?: Hint; readonly retryable?: boolean };

function explain(code: string, text: string, target: Target): Explanation {
  const { address, user, database } = target;
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return {
        reason: `No PostgreSQL responds at ${address}`,
        hint: { text: 'start it, or correct DATABASE_URL' },
        retryable: true,
      };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        reason: `The host of PostgreSQL is not known: ${address}`,
        hint: CORRECT_URL,
        retryable: true,
      };
    case '57P03':
      return {
        reason: `PostgreSQL at ${address} is starting or stopping (${text})`,
        hint: { text: 'try again in a moment' },
        retryable: true,
      };
    case '53300':
      return {
        reason: `PostgreSQL at ${address} has no connection left`,
        hint: { text: 'raise its max_connections' },
        retryable: true,
      };
    case '28P01':
      return { reason: `PostgreSQL at ${address} refused the password of user "${user}"`, hint: CORRECT_URL };
    case '28000':
      return {
        reason: `PostgreSQL at ${address} refused user "${user}" (${text})`,
        hint: { text: 'look at its pg_hba.conf' },
      };
    case '3D000':
      return {
        reason: `PostgreSQL at ${address} has no database "${database}"`,
        hint:
          database === OWN_USER
            ? { text: 'name a database in DATABASE_URL' }
            : { text: 'create it', command: `createdb ${shellQuote(database)}` },
      };
    case '42501':
      return { reason: `User "${user}" may not do this in database "${database}" at ${address}: ${text}.` };
    default:
      return explainText(text, target);
  }
}

const CORRECT_URL: Hint = { text: 'correct DATABASE_URL' };

/** Errors of the driver itself have no code. */
function explainText(text: string, { address, database }: Target): Explanation {
  if (text.includes('password must be a string')) {
    return {
      reason: `PostgreSQL at ${address} asks for a password, and DATABASE_URL has none`,
      hint: CORRECT_URL,
    };
  }
  if (text.includes('timeout')) {
    return { reason: `PostgreSQL at ${address} did not respond in time.`, retryable: true };
  }
  return { reason: `The PostgreSQL database "${database}" at ${address} could not be opened: ${text}.` };
}

/** PostgreSQL takes the user of the process, whose name the driver looks up, and the database of that name. */
const OWN_USER = "the service's own user";

function describe(url: string): Target {
  const { hostname, port, pathname, searchParams, username } = new URL(url);
  const host = searchParams.get('host') ?? (decodeURIComponent(hostname) || 'localhost');
  const user = decodeURIComponent(username) || (searchParams.get('user') ?? OWN_USER);
  return {
    address: `${host}:${port || '5432'}`,
    user,
    database: decodeURIComponent(pathname.slice(1)) || user,
  };
}
