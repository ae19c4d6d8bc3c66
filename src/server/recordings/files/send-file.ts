import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { ServiceError } from '../../../contract/errors.ts';
import type { RouteResponse } from '../../platform/http/route.ts';
import { httpDate, selectRange } from './byte-range.ts';
import type { OpenFile } from './recording-files.ts';

export type FileRequest = { readonly method: string; readonly headers: IncomingHttpHeaders };

/**
 * Streams the file or the requested part, and closes the file when none of it is sent. Throws precondition-failed and
 * range-not-satisfiable.
 */
export async function sendFile(
  request: FileRequest,
  file: OpenFile,
  about: { readonly name: string; readonly contentType: string },
): Promise<RouteResponse> {
  const { sizeBytes, etag } = file;
  const selection = selectRange(request.headers, file);
  const validators = { etag, 'last-modified': httpDate(file.modifiedAt), 'accept-ranges': 'bytes' };
  if (selection.kind === 'unchanged') {
    await file.close();
    return { status: 304, headers: validators };
  }
  if (selection.kind === 'changed' || selection.kind === 'unsatisfiable') {
    await file.close();
    throw selection.kind === 'changed' ? changed() : unsatisfiable(sizeBytes);
  }
  const isPart = selection.kind === 'part';
  const { start, length } = isPart ? selection : { start: 0, length: sizeBytes };
  const range = `bytes ${start}-${start + length - 1}/${sizeBytes}`;
  const headers = {
    ...validators,
    'content-type': about.contentType,
    'content-length': String(length),
    'content-disposition': `attachment; filename="${about.name.replace(/[^\w.%-]/g, '_')}"`,
    ...(isPart ? { 'content-range': range } : {}),
  };
  const status = isPart ? 206 : 200;
  if (request.method !== 'HEAD') return { status, headers, body: file.read(start, length) };
  await file.close();
  // Fastify sets the length of an absent body to 0, and does not set that of a stream.
  return { status, headers, body: Readable.from([]) };
}

function changed(): ServiceError {
  return new ServiceError('precondition-failed', 'The file has changed since; request it again.');
}

function unsatisfiable(sizeBytes: number): ServiceError {
  return new ServiceError('range-not-satisfiable', `The file has ${sizeBytes} bytes; ask for a part of it.`, {
    headers: { 'content-range': `bytes */${sizeBytes}`, 'accept-ranges': 'bytes' },
  });
}
