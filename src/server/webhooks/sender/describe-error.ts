import { codeOfError, membersOf } from '../../../contract/unknown-value.ts';
import { ForbiddenAddress } from './address-guard.ts';
import { TOO_MANY_BYTES } from './limit-reads.ts';

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed before the end of the response',
  EPIPE: 'the connection was closed before the end of the response',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no response in time',
  UND_ERR_BODY_TIMEOUT: 'the response did not end in time',
  ETIMEDOUT: 'no connection in time',
  [TOO_MANY_BYTES]: 'the receiver sends too much',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are too large',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/** Describes an error by its code and our own words only, because the text of an error may contain addresses. */
export function describeError(error: unknown): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const { name, cause } = membersOf(error);
  const code = codeOfError(error);
  if (cause instanceof ForbiddenAddress) return cause.message;
  if (name === 'HTTPParserError') return 'the response is not well-formed HTTP';
  if (code === undefined) return 'the request failed';
  if (/^(CERT|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/.test(code)) {
    return `the TLS certificate or handshake is not valid (${code})`;
  }
  return MEANINGS[code] ?? `the request failed (${code})`;
}
