import { findReason, readErrorCode } from './bucket-errors.ts';
import { ask, type BucketFilesDeps, createBucketFiles, readDocument } from './bucket-files.ts';
import type { FileLocation, StorageCheck } from './recording-files.ts';

/*
 * Does everything with a small object that happens to the file of a recording: writes it, reads it back, fetches it by its
 * pre-signed URL, deletes it, and checks that it was deleted. The keys are those of the recorder. Only a recording shows
 * whether the recorder reaches the storage.
 */

const CONTENT = 'rtc: a trial file; it may be deleted';

/** The error of a step; undefined without one. */
type StepResult = Promise<StorageCheck | undefined>;

/** Tests the bucket. Never rejects. */
export async function checkBucket(deps: BucketFilesDeps, location: FileLocation): Promise<StorageCheck> {
  const unwritten = await write(deps, location);
  if (unwritten !== undefined) return unwritten;
  const unread = await readBack(deps, location);
  const unsigned = unread ?? (await fetchSigned(deps, location));
  // The object is deleted after an error too.
  const undeleted = await remove(deps, location);
  const found = unsigned ?? undeleted ?? (await lookForMissing(deps, location));
  return (
    found ?? {
      status: 'ok',
      detail: 'a file was written, read back, fetched by its pre-signed URL and deleted',
      next: '',
    }
  );
}

async function write(deps: BucketFilesDeps, location: FileLocation): StepResult {
  return await step(location, WRITING, {
    send: async () => await ask(deps, location, { method: 'PUT', body: CONTENT }),
  });
}

async function readBack(deps: BucketFilesDeps, location: FileLocation): StepResult {
  return await step(location, READING, {
    send: async () => await ask(deps, location, { method: 'GET' }),
    expected: CONTENT,
  });
}

async function fetchSigned(deps: BucketFilesDeps, location: FileLocation): StepResult {
  const { storage, timeoutMs } = deps;
  const isElsewhere = storage?.publicEndpoint !== storage?.endpoint;
  const fetched = async (): Promise<Response> => {
    const url = await createBucketFiles(deps).signedUrl(location, 60);
    return await fetch(`${url}`, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs ?? 10_000) });
  };
  return await step(location, isElsewhere ? FETCHING_ELSEWHERE : FETCHING, {
    send: fetched,
    expected: CONTENT,
  });
}

async function remove(deps: BucketFilesDeps, location: FileLocation): StepResult {
  return await step(location, DELETING, {
    send: async () => await ask(deps, location, { method: 'DELETE' }),
  });
}

/**
 * Checks that the object is missing. Only keys that may list the bucket distinguish a deleted file from a forbidden one.
 */
async function lookForMissing(deps: BucketFilesDeps, location: FileLocation): StepResult {
  const send = async (): Promise<Response> => {
    const response = await ask(deps, location, { method: 'GET' });
    return response.status === 404 ? new Response(null, { status: 200 }) : response;
  };
  return await step(location, MISSING, { send });
}

type StepKind = {
  /** The step, such as "cannot write", for the message. */
  readonly doing: string;
  readonly permission: string;
  readonly unreachable: Pick<StorageCheck, 'status' | 'next'>;
};

const UNREACHABLE = {
  status: 'fault',
  next: 'check S3_ENDPOINT, and that this service reaches it',
} as const;
const WRITING: StepKind = { doing: 'write', permission: 's3:PutObject', unreachable: UNREACHABLE };
const READING: StepKind = { doing: 'read back', permission: 's3:GetObject', unreachable: UNREACHABLE };
const FETCHING: StepKind = { ...READING, doing: 'fetch by a pre-signed URL' };
const FETCHING_ELSEWHERE: StepKind = {
  ...FETCHING,
  // Receivers may be in a network that the service cannot reach.
  unreachable: {
    status: 'warning',
    next: 'check S3_PUBLIC_ENDPOINT from where the files are fetched; this service itself does not reach it',
  },
};
const DELETING: StepKind = { doing: 'delete', permission: 's3:DeleteObject', unreachable: UNREACHABLE };
const MISSING: StepKind = {
  doing: 'tell a missing file from a forbidden one',
  permission: 's3:ListBucket',
  unreachable: UNREACHABLE,
};

type StepRequest = {
  readonly send: () => Promise<Response>;
  /** The text that the response must have. */
  readonly expected?: string;
};

async function step(location: FileLocation, kind: StepKind, { send, expected }: StepRequest): StepResult {
  try {
    const response = await send();
    const text = await readDocument(response);
    if (!response.ok) return refused(location, kind, { status: response.status, code: readErrorCode(text) });
    if (expected === undefined || text === expected) return undefined;
    return {
      status: 'fault',
      detail: `cannot ${kind.doing}: the content that came back is different`,
      next: 'check what is between this service and the object storage',
    };
  } catch (error) {
    return {
      ...kind.unreachable,
      detail: `cannot ${kind.doing}: the object storage does not respond${formatErrorCode(error)}`,
    };
  }
}

function refused(
  { bucket }: FileLocation,
  { doing, permission }: StepKind,
  { status, code }: { readonly status: number; readonly code: string | undefined },
): StorageCheck {
  const reason = findReason({ status, code, bucket: bucket ?? '' });
  const what =
    reason?.what ?? `responded with ${status}${code === undefined ? ', not as S3 does' : ` ${code}`}`;
  const right = `give S3_ACCESS_KEY the right ${permission} on ${JSON.stringify(bucket)}`;
  const unknown =
    code === undefined ? 'check that S3_ENDPOINT is an S3' : 'look up this code of the object storage';
  return {
    status: 'fault',
    detail: `cannot ${doing}: the object storage ${what}`,
    next: code === 'AccessDenied' ? right : (reason?.next ?? unknown),
  };
}

/** Codes such as ECONNREFUSED explain the error and contain nothing secret. */
function formatErrorCode(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^E[A-Z]+$/.test(at.code)) return ` (${at.code})`;
  }
  return '';
}
