import { DatabaseError } from 'pg';
import { ServiceError } from '../../../../contract/errors.ts';

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
