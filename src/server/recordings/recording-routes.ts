import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { ServiceError } from '../../contract/errors.ts';
import {
  RecordingLinkQuery,
  RecordingListQuery,
  RecordingListSchema,
  RecordingParams,
  RecordingSchema,
} from '../../contract/recordings.ts';
import { defineRoute, type Route, type RouteResponse, type SuccessResponse } from '../platform/http/route.ts';
import { checkFileLink, type LinkDeps } from './files/file-link.ts';
import type { OpenFile } from './files/recording-files.ts';
import {
  type Download,
  deleteRecording,
  downloadRecording,
  getRecording,
  type LibraryDeps,
  listRecordings,
} from './recordings.ts';

export type RecordingLibraryDeps = LibraryDeps & LinkDeps;

const ERRORS = ['recording-not-found', 'storage-unavailable'] as const;

const FILE_ERRORS = [...ERRORS, 'recording-not-finished', 'recording-storage-error'] as const;

const DOWNLOAD_ERRORS = [
  ...FILE_ERRORS,
  'recording-file-not-found',
  'precondition-failed',
  'range-not-satisfiable',
] as const;

export function recordingLibraryRoutes(deps: RecordingLibraryDeps): readonly Route[] {
  return [listRoute(deps), getRoute(deps), downloadRoute(deps), deleteRoute(deps), linkRoute(deps)];
}

function listRoute(deps: RecordingLibraryDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/recordings',
    operationId: 'listRecordings',
    tag: 'recordings',
    summary: 'List recordings, newest first',
    description:
      'A page may be shorter than its limit and still not be the last one: continue while there is a nextCursor.',
    scopes: ['read', 'recordings'],
    ofRooms: 'filtered',
    query: RecordingListQuery,
    success: { 200: { description: 'The recordings', schema: RecordingListSchema } },
    errors: ['storage-unavailable'],
    handle: async ({ query, caller }) => ({
      status: 200,
      body: await listRecordings(deps, { ...query, rooms: caller?.rooms }),
    }),
  });
}

function getRoute(deps: RecordingLibraryDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/recordings/:recordingId',
    operationId: 'getRecording',
    tag: 'recordings',
    summary: 'Show one recording',
    description: 'Works while it is recording and afterwards, until it is deleted.',
    scopes: ['read', 'recordings'],
    params: RecordingParams,
    success: { 200: { description: 'The recording', schema: RecordingSchema } },
    errors: ERRORS,
    handle: async ({ params }) => ({ status: 200, body: await getRecording(deps, params.recordingId) }),
  });
}

function downloadRoute(deps: RecordingLibraryDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/recordings/:recordingId/download',
    operationId: 'downloadRecording',
    tag: 'recordings',
    summary: 'Download the file of a recording',
    description:
      'If recordings are in a bucket, redirects to a pre-signed URL, which is valid for five minutes: follow it without the signature headers. Otherwise returns the file, or one range of it.',
    scopes: ['read', 'recordings'],
    params: RecordingParams,
    success: DOWNLOADS,
    errors: DOWNLOAD_ERRORS,
    handle: async ({ params, raw }) => toResponse(raw, await downloadRecording(deps, params.recordingId)),
  });
}

function deleteRoute(deps: RecordingLibraryDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/recordings/:recordingId',
    operationId: 'deleteRecording',
    tag: 'recordings',
    summary: 'Delete a recording and its file',
    description:
      'If the file cannot be deleted, the recording stays. It is no error if the file is already gone.',
    scopes: ['recordings'],
    params: RecordingParams,
    success: { 204: { description: 'The recording and its file are deleted' } },
    errors: FILE_ERRORS,
    handle: async ({ params }) => {
      await deleteRecording(deps, params.recordingId);
      return { status: 204 };
    },
  });
}

/** Not under /v1, because the link is for people who have no API key. */
function linkRoute(deps: RecordingLibraryDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/recordings/:recordingId/file',
    operationId: 'fetchRecordingFile',
    tag: 'recordings',
    summary: 'Fetch the file of a recording by a signed link',
    description:
      'The `fileUrl` of a webhook, if recordings are in a folder. It is valid for 24 hours, for everybody who has it.',
    security: 'public',
    params: RecordingParams,
    query: RecordingLinkQuery,
    success: DOWNLOADS,
    errors: ['invalid-signature', ...DOWNLOAD_ERRORS],
    handle: async ({ params, query, raw }) => {
      checkFileLink(deps, { id: params.recordingId, ...query });
      const { headers, ...sent } = await toResponse(raw, await downloadRecording(deps, params.recordingId));
      return { ...sent, headers: { ...headers, 'cache-control': 'private, no-cache' } };
    },
  });
}

const VIDEO = 'video/mp4';

const FILE = {
  schema: Type.String({ format: 'binary' }),
  example: '(bytes)',
  contentType: VIDEO,
} as const;

const VALIDATORS = {
  ETag: 'Changes with the content; for If-Range and If-None-Match',
  'Last-Modified': 'When the file was written',
  'Accept-Ranges': 'bytes',
};

const DOWNLOADS: Readonly<Record<number, SuccessResponse>> = {
  200: { description: 'The whole file', headers: VALIDATORS, ...FILE },
  206: {
    description: 'The requested range',
    headers: { ...VALIDATORS, 'Content-Range': 'The range of bytes, and the length of the file' },
    ...FILE,
  },
  302: { description: 'The file is in a bucket', headers: { Location: 'Pre-signed URL' } },
  304: { description: 'Not modified since the version that the caller has', headers: VALIDATORS },
};

async function toResponse(request: FileRequest, download: Download): Promise<RouteResponse> {
  if ('url' in download) return { status: 302, headers: { location: download.url } };
  return await sendFile(request, download.file, { name: download.name, contentType: VIDEO });
}

type FileRequest = { readonly method: string; readonly headers: IncomingHttpHeaders };

/**
 * Streams the file or the requested part, and closes the file when none of it is sent. Throws precondition-failed and
 * range-not-satisfiable.
 */
async function sendFile(
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
    throw selection.kind === 'changed' ? changedError() : unsatisfiable(sizeBytes);
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
  // Fastify sets the length of an absent body to 0, and sets no length for a stream.
  return { status, headers, body: Readable.from([]) };
}

function changedError(): ServiceError {
  return new ServiceError('precondition-failed', 'The file has changed since; request it again.');
}

function unsatisfiable(sizeBytes: number): ServiceError {
  return new ServiceError('range-not-satisfiable', `The file has ${sizeBytes} bytes; ask for a part of it.`, {
    headers: { 'content-range': `bytes */${sizeBytes}`, 'accept-ranges': 'bytes' },
  });
}

/*
 * Selects the part of a file that a response sends: RFC 9110, sections 13 (conditions) and 14 (ranges). For several ranges,
 * or a range that cannot be parsed, the response has the whole file: a server may ignore either.
 */

type Representation = {
  readonly sizeBytes: number;
  /** Strong entity tag, with its quotes. */
  readonly etag: string;
  /** Unix milliseconds. HTTP dates have whole seconds. */
  readonly modifiedAt: number;
};

type Selection =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly length: number }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'unsatisfiable' };

function selectRange(headers: IncomingHttpHeaders, file: Representation): Selection {
  if (!isVersionAskedFor(headers, file)) return { kind: 'changed' };
  if (isUnchanged(headers, file)) return { kind: 'unchanged' };
  const range = /^bytes=(\d*)-(\d*)$/i.exec(headers.range?.replaceAll(' ', '') ?? '');
  if (range === null || !isRangeWanted(headers['if-range'], file)) return { kind: 'whole' };
  const [, first = '', last = ''] = range;
  return first === '' ? suffix(last, file.sizeBytes) : fromTo(first, last, file.sizeBytes);
}

function httpDate(at: number): string {
  return new Date(at).toUTCString();
}

/** Selects the last `count` bytes. */
function suffix(count: string, size: number): Selection {
  if (count === '') return { kind: 'whole' };
  const length = Math.min(Number(count), size);
  return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', start: size - length, length };
}

function fromTo(first: string, last: string, size: number): Selection {
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= size) return { kind: 'unsatisfiable' };
  return { kind: 'part', start, length: end - start + 1 };
}

/** Follows If-Match alone when both headers are present. It compares strongly, and our tags are strong. */
function isVersionAskedFor(headers: IncomingHttpHeaders, { etag, modifiedAt }: Representation): boolean {
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined) {
    return ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag);
  }
  const until = Date.parse(headers['if-unmodified-since'] ?? '');
  return Number.isNaN(until) || wholeSeconds(modifiedAt) <= until;
}

/** Follows If-None-Match alone when both headers are present. */
function isUnchanged(headers: IncomingHttpHeaders, { etag, modifiedAt }: Representation): boolean {
  const known = headers['if-none-match'];
  if (known !== undefined) {
    return known.trim() === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
  }
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && wholeSeconds(modifiedAt) <= since;
}

/** Returns false when the file is no longer the version of which the caller has a part. Then the whole file is sent. */
function isRangeWanted(condition: string | string[] | undefined, file: Representation): boolean {
  if (condition === undefined) return true;
  if (typeof condition !== 'string') return false;
  return condition === file.etag || Date.parse(condition) === wholeSeconds(file.modifiedAt);
}

function wholeSeconds(at: number): number {
  return Math.floor(at / 1000) * 1000;
}
