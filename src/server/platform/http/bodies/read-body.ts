import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../../contract/errors.ts';
import { refusedField } from '../refusals.ts';
import { encodePointer, escapePointer } from '../validate.ts';

/** Called once, with the body or with an error. */
type BodyReceiver = (error: ServiceError | undefined, body: Buffer) => void;

type BodyLimits = {
  readonly limitBytes: number;
  /** Undefined for callers that the headers have authenticated. */
  readonly allowance: BodyAllowance | undefined;
};

/**
 * Reads the raw body of any request, GET included. The error is payload-too-large or server-busy as soon as a limit is
 * exceeded, and invalid-request when the client disconnects: that response is not read, but the log shows that the service
 * did not fail. Uses a callback, and calls it synchronously without a body, because it runs for every request.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, receive: BodyReceiver): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.limitBytes) receive(tooLarge(limits.limitBytes), EMPTY);
  else if (declared === 0 && request.headers['transfer-encoding'] === undefined) receive(undefined, EMPTY);
  else collect(request, limits, receive);
}

// `for await` would destroy the socket when it is left early, and the client would never get the response.
function collect(
  request: IncomingMessage,
  { limitBytes, allowance }: BodyLimits,
  receive: BodyReceiver,
): void {
  const chunks = new ChunkList();
  let isDone = false;
  const finish = (error?: ServiceError): void => {
    if (isDone) return;
    isDone = true;
    receive(error, error === undefined ? chunks.concat() : EMPTY);
  };
  const refuse = (error: ServiceError): void => {
    request.off('data', onData);
    chunks.clear();
    finish(error);
  };
  const onData = (chunk: Buffer): void => {
    if (chunks.size + chunk.length > limitBytes) refuse(tooLarge(limitBytes));
    else if (allowance?.take(chunk.length) === false) refuse(serverBusy());
    else chunks.add(chunk);
  };
  const onDisconnect = (cause?: Error): void => {
    if (request.complete) return;
    chunks.clear();
    finish(new ServiceError('invalid-request', 'The request broke off within its body.', { cause }));
  };
  request.on('data', onData);
  request.on('end', () => finish());
  request.on('error', onDisconnect);
  request.on('close', onDisconnect);
}

/** Tiny chunks are merged, because each Buffer object takes about 100 bytes beside its content. */
const MAX_TINY_CHUNKS = 256;

class ChunkList {
  readonly #merged: Buffer[] = [];
  #recent: Buffer[] = [];
  size = 0;

  add(chunk: Buffer): void {
    this.size += chunk.length;
    this.#recent.push(chunk);
    if (this.#recent.length < MAX_TINY_CHUNKS) return;
    this.#merged.push(Buffer.concat(this.#recent));
    this.#recent = [];
  }

  concat(): Buffer {
    const [only] = this.#recent;
    if (only !== undefined && only.length === this.size) return only;
    return Buffer.concat([...this.#merged, ...this.#recent]);
  }

  clear(): void {
    this.#merged.length = 0;
    this.#recent = [];
    this.size = 0;
  }
}

function serverBusy(): ServiceError {
  return new ServiceError(
    'server-busy',
    'Too many request bodies are being received; try again in a second.',
    {
      retryable: true,
      headers: { 'retry-after': '1' },
    },
  );
}

const EMPTY = Buffer.alloc(0);

/**
 * The rest of the body is read and dropped until the request times out. Most clients send the whole body before they
 * read the response, and closing the connection earlier would lose it (RFC 9112, section 9.6).
 */
function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload-too-large', `The body is larger than ${limitBytes} bytes.`);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type BodyHeaders = {
  readonly 'content-type'?: string | undefined;
  readonly 'content-encoding'?: string | undefined;
};

/**
 * Parses the body as JSON. An empty body counts as `{}`, with or without a content type. Any other body must be
 * application/json in UTF-8. Throws unsupported-media-type or invalid-request.
 */
export function parseJsonBody(body: Buffer, headers: BodyHeaders): unknown {
  if (body.length === 0) return {};
  if (!isJson(headers['content-type'])) {
    throw new ServiceError('unsupported-media-type', 'The body must be application/json in UTF-8.');
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new ServiceError('unsupported-media-type', 'The body must not be compressed.', {
      // RFC 9110, section 12.5.3: tells the client that the encoding was rejected, not the media type.
      headers: { 'accept-encoding': 'identity' },
    });
  }
  const { text, value } = parse(body);
  requireBoundedDepth(value);
  const duplicate = findDuplicateName(text);
  if (duplicate !== undefined) throw refusedField(encodePointer(duplicate), 'is there more than once');
  return value;
}

function parse(body: Buffer): { readonly text: string; readonly value: unknown } {
  try {
    const text = UTF8.decode(body);
    return { text, value: JSON.parse(text) };
  } catch (cause) {
    const detail = cause instanceof SyntaxError ? 'is not well-formed JSON' : 'is not UTF-8';
    throw new ServiceError('invalid-request', `The body ${detail}.`, {
      cause,
      errors: [{ pointer: '#', detail }],
    });
  }
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every(
    (parameter) => !/^\s*charset=/.test(parameter) || /^\s*charset="?utf-?8"?\s*$/.test(parameter),
  );
}

/*
 * When an object has two members of the same name, JSON.parse takes the last one and other parsers take the first (RFC 8259,
 * section 4). Two parts of a system would then act on different values, so such bodies are rejected.
 */

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

const COMMA = 0x2c;

const OBJECT_START = 0x7b;

const OBJECT_END = 0x7d;

const ARRAY_START = 0x5b;

const ARRAY_END = 0x5d;

/** An open object with its names so far, or an open array with its position. */
type Level = { readonly names: Set<string> | undefined; name: string; position: number };

/** Returns the JSON pointer of the first repeated member, or undefined. `text` must be well-formed JSON. */
export function findDuplicateName(text: string): string | undefined {
  const levels: Level[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const level = levels.at(-1);
      if (isName && level?.names !== undefined) {
        level.name = readName(text, at, end);
        if (level.names.has(level.name)) return pointerTo(levels);
        level.names.add(level.name);
        isName = false;
      }
      at = end;
    } else if (code === OBJECT_START || code === ARRAY_START) {
      isName = code === OBJECT_START;
      levels.push({ names: isName ? new Set() : undefined, name: '', position: 0 });
    } else if (code === OBJECT_END || code === ARRAY_END) {
      levels.pop();
    } else if (code === COMMA) {
      const level = levels.at(-1);
      isName = level?.names !== undefined;
      if (level !== undefined) level.position += 1;
    }
  }
  return undefined;
}

/** Resolves escapes, because `\u0061` is the same name as `a`. */
function readName(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end);
  return name.includes('\\') ? JSON.parse(`"${name}"`) : name;
}

/** Returns the position of the closing quote, which follows an even number of backslashes. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function pointerTo(levels: readonly Level[]): string {
  const parts = levels.map(({ names, name, position }) => (names === undefined ? String(position) : name));
  return parts.map((part) => `/${escapePointer(part)}`).join('');
}

/**
 * Maximum levels of objects and lists in a body, including the body itself. Some checks and the media server's library
 * recurse.
 */
const MAX_DEPTH = 100;

/** @throws ServiceError invalid-request that names the first top-level entry which is nested too deeply. */
export function requireBoundedDepth(body: unknown): void {
  const deep = findDeepEntry(body);
  if (deep !== undefined) throw refusedField(encodePointer(deep), 'is nested too deeply');
}

/** Returns the entry's JSON pointer, which is empty when the body is a list. */
function findDeepEntry(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const deep = Object.entries(body).find(([, entry]) => isDeeperThan(MAX_DEPTH - 1, entry));
  if (deep === undefined) return undefined;
  return Array.isArray(body) ? '' : `/${escapePointer(deep[0])}`;
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((entry) => isDeeperThan(levels - 1, entry));
}

/*
 * JSON allows numbers of any precision, JSON.parse yields doubles: 12345678901234567890 becomes 12345678901234567000,
 * and 1e400 becomes null. Values that the service only passes on must keep their exact text.
 */

/** Text without a match contains only numbers that a double represents exactly. */
const MAY_CHANGE = /\d{16}|\d[eE]/;

/** ECMAScript 2025 (proposal-json-parse-with-source). The compiler's library has no types for it yet. */
const { parse: parseExactly, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

/**
 * Returns the member `name` of the object in `body`, with its numbers as JSON.rawJSON objects when parsing may have
 * changed them. Use the result only with JSON.stringify. `value` is the member as JSON.parse gave it.
 */
export function exactMember<T>(body: Buffer, name: string, value: T): T {
  if (value === undefined) return value;
  const text = body.toString();
  if (!MAY_CHANGE.test(text)) return value;
  return (parseExactly(text, keepSource) as Readonly<Record<string, T>>)[name] ?? value;
}

function keepSource(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? rawJSON(source) : value;
}

/*
 * Limits the memory of bodies whose signature is not checked yet. Anyone can send them, even with a valid API key, because
 * every participant's token contains it.
 */

/** Maximum size of a small body. Requests on public paths and most signed ones are smaller. */
const SMALL_BODY_BYTES = 16 * 1024;

/** A quarter of the budget is reserved for small bodies, so that large ones cannot block them. */
const SHARE_OF_LARGE_BODIES = 0.75;

/** The part of the budget that one body uses. */
export type BodyAllowance = {
  /** Reserves bytes. Returns false when the budget is exhausted. */
  readonly take: (bytes: number) => boolean;
  /** Returns all bytes of this body to the budget. A second call has no effect. */
  readonly release: () => void;
};

export function createBodyBudget(limitBytes: number): () => BodyAllowance {
  let usedBytes = 0;
  return () => {
    let ownBytes = 0;
    return {
      take: (bytes) => {
        const isSmall = ownBytes + bytes <= SMALL_BODY_BYTES;
        if (usedBytes + bytes > (isSmall ? limitBytes : limitBytes * SHARE_OF_LARGE_BODIES)) return false;
        usedBytes += bytes;
        ownBytes += bytes;
        return true;
      },
      release: () => {
        usedBytes -= ownBytes;
        ownBytes = 0;
      },
    };
  };
}
