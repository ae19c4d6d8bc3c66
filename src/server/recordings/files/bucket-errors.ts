import { ServiceError } from '../../../contract/errors.ts';

/** An error response of an object storage. `code` is one of AWS's error codes, undefined for any other body. */
export type StorageError = {
  readonly status: number;
  readonly code: string | undefined;
  readonly bucket: string;
  /** The holder of the keys. */
  readonly keys: KeyHolder;
};

/** The setting with the keys, or what they were found with where no setting has them. */
export type KeyHolder = 'S3_ACCESS_KEY' | 'the role or profile of this service';

/** Why an object storage rejects a request, as the end of a sentence that begins "The object storage", and what to do. */
export type Reason = { readonly what: string; readonly next: string };

const SETTING: KeyHolder = 'S3_ACCESS_KEY';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const REASONS: Readonly<Record<string, (error: StorageError) => Reason>> = {
  NoSuchBucket: ({ bucket }) => ({
    what: `has no bucket ${JSON.stringify(bucket)}`,
    next: 'check S3_BUCKET and S3_ENDPOINT',
  }),
  InvalidAccessKeyId: unknownKey,
  // An error code of versitygw.
  XAdminUserNotFound: unknownKey,
  SignatureDoesNotMatch: ({ keys }) => ({
    what: 'refuses the signature',
    next: keys === SETTING ? 'check S3_SECRET_KEY' : `check ${keys}`,
  }),
  ExpiredToken: ({ keys }) => ({
    what: 'finds the session token expired',
    next:
      keys === SETTING
        ? 'renew S3_ACCESS_KEY, S3_SECRET_KEY and S3_SESSION_TOKEN together'
        : `check ${keys}, and the clock`,
  }),
  InvalidToken: ({ keys }) => ({
    what: 'does not accept the session token',
    next:
      keys === SETTING
        ? 'check S3_SESSION_TOKEN, which belongs to its S3_ACCESS_KEY'
        : `check ${keys}, and S3_ENDPOINT`,
  }),
  AccessDenied: ({ bucket, keys }) => ({
    what: 'denies access',
    next: `${keys} needs s3:GetObject, s3:DeleteObject and s3:ListBucket on ${JSON.stringify(bucket)}`,
  }),
  RequestTimeTooSkewed: () => ({
    what: 'finds the clock of this service too far off',
    next: 'correct it (NTP)',
  }),
  AuthorizationHeaderMalformed: () => ({ what: 'expects another region', next: 'check S3_REGION' }),
  PermanentRedirect: () => ({
    what: 'has the bucket at another endpoint',
    next: 'check S3_REGION and S3_ENDPOINT',
  }),
};

function unknownKey({ keys }: StorageError): Reason {
  return { what: 'does not know the access key', next: `check ${keys}` };
}

/** Returns the reason; undefined for an error that is unrelated to our settings. */
export function findReason(error: StorageError): Reason | undefined {
  return REASONS[error.code ?? '']?.(error);
}

const BUSY: readonly number[] = [429, 502, 503, 504];

export function toServiceError(storageError: StorageError): ServiceError {
  const { status, code } = storageError;
  const reason = findReason(storageError);
  if (reason !== undefined) {
    return new ServiceError('recording-storage-error', `The object storage ${reason.what}: ${reason.next}.`);
  }
  if (BUSY.includes(status) || status === 500) {
    return unavailable(new Error(`the object storage responded with ${status} ${code ?? ''}`));
  }
  const what = code === undefined ? 'not as S3 does; S3_ENDPOINT may name something else' : code;
  return new ServiceError('recording-storage-error', `The object storage responded with ${status}: ${what}.`);
}

/** Error for no response, or for a response that asks to try again later. Only the cause contains the address. */
export function unavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'storage-unavailable',
    'The object storage with the recordings does not respond; nothing was changed. Try again later.',
    { cause, retryable: true },
  );
}

export function missingFile(): ServiceError {
  return new ServiceError(
    'recording-file-not-found',
    'The file of the recording is no longer where it was stored.',
  );
}

/** Returns the `Code` of S3's error document. */
export function readErrorCode(document: string): string | undefined {
  return /<Error>.*?<Code>(\w{1,64})<\/Code>/s.exec(document)?.[1];
}
