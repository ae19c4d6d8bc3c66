import { ServiceError } from '../../../../contract/errors.ts';

/** Explains to the operator why the database of `url` cannot be opened. Names the host and user, never the password. */
export function explainStart(error: unknown, url: string): unknown {
  const cause = error instanceof ServiceError ? error.cause : error;
  // The error is an explanation already.
  if (cause === undefined) return error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const text = cause instanceof Error ? cause.message : '';
  const { address, user, database } = describe(url);
  const [explanation, retryable] = explain(code, text, { address, user, database });
  return new ServiceError('storage-unavailable', explanation, { cause, retryable });
}

type Target = { readonly address: string; readonly user: string; readonly database: string };

function explain(
  code: string,
  text: string,
  { address, user, database }: Target,
): readonly [string, boolean] {
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return [`No PostgreSQL answers at ${address}. Start it, or correct DATABASE_URL.`, true];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return [`The host of PostgreSQL is not known: ${address}. Correct DATABASE_URL.`, true];
    case '57P03':
      return [`PostgreSQL at ${address} is starting or stopping (${text}). Try again in a moment.`, true];
    case '53300':
      return [`PostgreSQL at ${address} has no connection left. Raise its max_connections.`, true];
    case '28P01':
      return [
        `PostgreSQL at ${address} refused the password of user "${user}". Correct DATABASE_URL.`,
        false,
      ];
    case '28000':
      return [`PostgreSQL at ${address} refused user "${user}" (${text}). Look at its pg_hba.conf.`, false];
    case '3D000':
      return [
        `PostgreSQL at ${address} has no database "${database}". Create it: createdb ${database}`,
        false,
      ];
    case '42501':
      return [`User "${user}" may not do this in database "${database}" at ${address}: ${text}.`, false];
    default:
      break;
  }
  if (text.includes('password must be a string')) {
    return [`PostgreSQL at ${address} asks for a password, and DATABASE_URL has none.`, false];
  }
  if (text.includes('timeout')) return [`PostgreSQL at ${address} did not answer in time.`, true];
  return [`The PostgreSQL database "${database}" at ${address} could not be opened: ${text}.`, false];
}

function describe(url: string): Target {
  const { hostname, port, pathname, searchParams, username } = new URL(url);
  const host = searchParams.get('host') ?? (decodeURIComponent(hostname) || 'localhost');
  const user = decodeURIComponent(username) || (searchParams.get('user') ?? "the service's own user");
  return {
    address: `${host}:${port || '5432'}`,
    user,
    database: decodeURIComponent(pathname.slice(1)) || user,
  };
}
