import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../contract/errors.ts';
import { findDuplicateName } from './duplicate-name.ts';
import { bodyFault } from './validate.ts';

/** Is called once: with the body, or with why there is none. */
export type BodyReceiver = (fault: ServiceError | undefined, body: Buffer) => void;

/**
 * Reads the raw body, of a GET too. The fault is payload-too-large as soon as it is known, and invalid-request when
 * the caller goes away before the end: nobody reads that answer, and it is no fault of the service. By a callback,
 * at once where no body comes: every request passes here.
 */
export function readBody(request: IncomingMessage, limitBytes: number, receive: BodyReceiver): void {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limitBytes) receive(tooLarge(limitBytes), EMPTY);
  else if (declared === 0 && request.headers['transfer-encoding'] === undefined) receive(undefined, EMPTY);
  else collect(request, limitBytes, receive);
}

// Not by `for await`: leaving that early destroys the socket, and the caller would never see the answer.
function collect(request: IncomingMessage, limitBytes: number, receive: BodyReceiver): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let isDone = false;
  const settle = (fault?: ServiceError): void => {
    if (isDone) return;
    isDone = true;
    receive(fault, fault === undefined ? Buffer.concat(chunks) : EMPTY);
  };
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= limitBytes) {
      chunks.push(chunk);
      return;
    }
    request.off('data', onData);
    settle(tooLarge(limitBytes));
  };
  const onBreak = (cause?: Error): void => {
    if (request.complete) return;
    settle(new ServiceError('invalid-request', 'The request broke off within its body.', { cause }));
  };
  request.on('data', onData);
  request.on('end', () => settle());
  request.on('error', onBreak);
  request.on('close', onBreak);
}

const EMPTY = Buffer.alloc(0);

/**
 * The rest of the body is read and dropped, for as long as a request may take: most clients send all of it before they
 * look for an answer, and a connection that is closed on them meanwhile loses it (RFC 9112, section 9.6).
 */
function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload-too-large', `The body is larger than ${limitBytes} bytes.`);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export type BodyHeaders = {
  readonly 'content-type'?: string | undefined;
  readonly 'content-encoding'?: string | undefined;
};

/**
 * The body as JSON. Empty counts as `{}`, with or without a content type; anything else must be application/json
 * in UTF-8. Throws unsupported-media-type or invalid-request.
 */
export function parseJsonBody(body: Buffer, headers: BodyHeaders): unknown {
  if (body.length === 0) return {};
  if (!isJson(headers['content-type'])) {
    throw new ServiceError('unsupported-media-type', 'The body must be application/json in UTF-8.');
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new ServiceError('unsupported-media-type', 'The body must not be compressed.', {
      // RFC 9110, section 12.5.3: tells that it was the coding, not the type.
      headers: { 'accept-encoding': 'identity' },
    });
  }
  const { text, value } = parse(body);
  const duplicate = findDuplicateName(text);
  if (duplicate !== undefined) throw bodyFault(duplicate, 'is there more than once');
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
