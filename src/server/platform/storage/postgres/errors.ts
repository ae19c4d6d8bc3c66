import { DatabaseError } from 'pg';
import { ServiceError } from '../../../../contract/errors.ts';
import type { Hint } from '../../../../contract/hint.ts';
import { shellQuote } from '../../../../contract/shell-quote.ts';

/*
 * Classes and codes of SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). All others are errors in
 * our own statements and are not translated.
 */
const UNAVAILABLE: readonly {
  readonly state: RegExp;
  readonly message: string;
  readonly retryable: boolean;
}[] = [
  { state: /^57014$/, message: 'The database took too long; try again.', retryable: true },
  { state: /^55P03$/, message: 'The database is busy; try again.', retryable: true },
  {
    state: /^40/,
    message: 'The database undid this for a change at the same time; try again.',
    retryable: true,
  },
  {
    state: /^53100$/,
    message: 'The disk of the database is full. Free some space, then try again.',
    retryable: true,
  },
  { state: /^53/, message: 'The database is out of connections or memory; try again.', retryable: true },
  { state: /^25006$/, message: 'The database is read-only now; try again.', retryable: true },
  { state: /^(08|25P03|57|58)/, message: 'The database does not respond; try again.', retryable: true },
  {
    state: /^(28|3D000|42501)/,
    message: 'The database refuses the service; correct its user and rights.',
    retryable: false,
  },
  { state: /^XX00[12]/, message: 'The database is damaged; restore it from a backup.', retryable: false },
];

/** SQLSTATEs after which the connection is unusable. Errors that the server did not send are fatal too. */
const CONNECTION_LOST = /^(08|25006|25P03|57P)/;

/** Returns whether the connection must not be used again: it was ended, or its responses can no longer be matched. */
export function losesConnection(error: unknown): boolean {
  return error instanceof DatabaseError ? CONNECTION_LOST.test(error.code ?? '') : isFromDriver(error);
}

/** Returns whether the server has reached max_connections, or its user has reached the connection limit. */
export function isOutOfConnections(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '53300';
}

/** Returns a ServiceError when the database is unavailable, and every other error without the row's values. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof DatabaseError)) {
    return isFromDriver(error) ? unavailable(error, NO_RESPONSE) : error;
  }
  const known = UNAVAILABLE.find(({ state }) => state.test(error.code ?? ''));
  if (known !== undefined) return unavailable(error, known);
  error.detail = undefined;
  error.where = undefined;
  return error;
}

const NO_RESPONSE = { message: 'The database does not respond; try again.', retryable: true };

type Unavailable = { readonly message: string; readonly retryable: boolean };

function unavailable(cause: unknown, { message, retryable }: Unavailable): ServiceError {
  return new ServiceError('storage-unavailable', message, { cause, retryable });
}

/** pg has no error class for lost connections and timeouts. Its other errors are type and range errors. */
function isFromDriver(error: unknown): boolean {
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
}

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
