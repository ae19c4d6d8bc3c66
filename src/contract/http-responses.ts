/*
 * RFC 9110, section 15.2, lets a server send interim responses (1xx) that nobody asked for, and requires a client to read
 * past them. Some servers and proxies send `100 Continue` before each response to a request with a body. undici reads past
 * every interim response except this one, for which it closes the connection: the response would be lost, though the server
 * has handled the request. So undici is given 102 instead, which it reads past.
 */

/** The part of a socket of Node that undici reads from. */
type Socket = {
  /** Method, so that a socket whose read returns any is accepted. */
  read(size?: number): Uint8Array | null;
  readonly bytesWritten: number;
};

type Outcome<S> = [error: null, socket: S] | [error: Error, socket: null];

type Connector<O, S> = (options: O, callback: (...outcome: Outcome<S>) => void) => void;

/** Returns the connector of undici with connections that accept `100 Continue` at any time. */
export function acceptContinue<O, S extends Socket>(connect: Connector<O, S>): Connector<O, S> {
  return (options, callback) =>
    connect(options, (...outcome) => {
      if (outcome[0] === null) readPastContinue(outcome[1]);
      callback(...outcome);
    });
}

function readPastContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  const heads = new InterimHeads();
  let written = -1;
  socket.read = (size) => {
    const piece = read(size);
    if (piece === null) return null;
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      heads.beginResponse();
    }
    heads.replaceContinue(piece);
    return piece;
  };
}

const LF = 0x0a;

const CR = 0x0d;

const LETTER_H = 0x48;

const ONE = 0x31;

/** `HTTP/1.1 100`: the positions of the digits of the status. */
const FIRST_DIGIT = 9;

const LAST_DIGIT = 11;

/** Follows the heads before the response, which may arrive in pieces of any length. */
class InterimHeads {
  /** In the status line, in the headers of an interim response, or past them all. */
  #part: 'status' | 'headers' | 'past' = 'past';
  /** Bytes of the current line, without its end. */
  #length = 0;
  #status = '';

  beginResponse(): void {
    if (this.#part === 'past') this.#beginHead();
  }

  /** Replaces the last digit of each status 100 in place. */
  replaceContinue(piece: Uint8Array): void {
    if (this.#beginsFinalResponse(piece)) this.#part = 'past';
    for (let index = 0; index < piece.length && this.#part !== 'past'; index += 1) {
      const byte = piece[index] ?? 0;
      if (byte === LF) this.#endLine();
      else if (byte !== CR && this.#part === 'headers') this.#length += 1;
      else if (byte !== CR && this.#readStatus(byte)) piece[index] = 0x32;
    }
  }

  /** Tells by one digit, as for nearly every response, that no head of this piece is interim. */
  #beginsFinalResponse(piece: Uint8Array): boolean {
    return (
      this.#part === 'status' &&
      this.#length === 0 &&
      piece[0] === LETTER_H &&
      (piece[FIRST_DIGIT] ?? ONE) !== ONE
    );
  }

  #beginHead(): void {
    this.#part = 'status';
    this.#length = 0;
    this.#status = '';
  }

  /** Reads a byte of the status line, and returns whether it is the last digit of a 100. */
  #readStatus(byte: number): boolean {
    const position = this.#length;
    this.#length += 1;
    if (position < FIRST_DIGIT || position > LAST_DIGIT) return false;
    this.#status += String.fromCharCode(byte);
    if (position === LAST_DIGIT && !/^1\d\d$/.test(this.#status)) this.#part = 'past';
    return this.#status === '100';
  }

  /** An empty line ends the headers, and may come before a status line. */
  #endLine(): void {
    const isEmpty = this.#length === 0;
    if (this.#part === 'headers' && isEmpty) this.#beginHead();
    else if (!isEmpty) this.#part = 'headers';
    this.#length = 0;
  }
}

/** Longer addresses are cut, because the receiver chooses them. */
const MAX_SHOWN = 200;

/** Returns whether a status asks the caller to send the request to another address. */
export function isRedirect(statusCode: number): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode);
}

/**
 * Describes a redirect, which is not followed, for the owner of the webhook: where it leads, and what to do. The query and
 * the password of the address are masked, because they may be secrets.
 */
export function describeRedirect(location: string | undefined, base: string): string {
  if (location === undefined || location === '') return 'redirects, but does not say where';
  if (!URL.canParse(location, base)) return 'redirects to an address that is not valid';
  const url = new URL(location, base);
  if (!/^https?:$/.test(url.protocol)) return 'redirects to an address that is neither http nor https';
  const path = url.pathname.slice(0, MAX_SHOWN) + (url.pathname.length > MAX_SHOWN ? '…' : '');
  const user = url.username === '' && url.password === '' ? '' : '***@';
  const query = url.search === '' ? '' : '?***';
  return `redirects to ${url.protocol}//${user}${url.host}${path}${query}: register that address`;
}

/* Node's codes of errors of TLS, for the messages of the service, the client and the command line. */

/** Certificates of an authority that this program does not know. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Returns whether the certificate is not trusted, which NODE_EXTRA_CA_CERTS can change. */
export function isUntrustedCertificate(code: string): boolean {
  return UNTRUSTED.has(code);
}

/** Returns whether the certificate or the handshake is not valid, for whatever reason. */
export function isTlsError(code: string): boolean {
  return UNTRUSTED.has(code) || /^(?:CERT|ERR_TLS|ERR_SSL|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/.test(code);
}
