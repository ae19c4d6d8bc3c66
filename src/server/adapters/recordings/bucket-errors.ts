import { ServiceError } from '../../../contract/errors.ts';

/** What an object storage said no with; `code` as in AWS's list of error codes, undefined for a body that is not its. */
export type Refusal = {
  readonly status: number;
  readonly code: string | undefined;
  readonly bucket: string;
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html: why, and what to do about it. */
const REASONS: Readonly<Record<string, (bucket: string) => string>> = {
  NoSuchBucket: (bucket) => `has no bucket ${JSON.stringify(bucket)}: check S3_BUCKET and S3_ENDPOINT`,
  InvalidAccessKeyId: unknownKey,
  // versitygw's own.
  XAdminUserNotFound: unknownKey,
  SignatureDoesNotMatch: () => 'refuses the signature: check S3_SECRET_KEY',
  AccessDenied: (bucket) =>
    `denies access: S3_ACCESS_KEY needs s3:GetObject, s3:DeleteObject and s3:ListBucket on ${JSON.stringify(bucket)}`,
  RequestTimeTooSkewed: () => 'finds the clock of this service too far off: set it right (NTP)',
  AuthorizationHeaderMalformed: () => 'expects another region: check S3_REGION',
  PermanentRedirect: () => 'has the bucket at another endpoint: check S3_REGION and S3_ENDPOINT',
};

function unknownKey(): string {
  return 'does not know the access key: check S3_ACCESS_KEY';
}

const BUSY: readonly number[] = [429, 502, 503, 504];

export function refusedBy({ status, code, bucket }: Refusal): ServiceError {
  const reason = REASONS[code ?? '']?.(bucket);
  if (reason !== undefined) {
    return new ServiceError('recording-storage-error', `The object storage ${reason}.`);
  }
  if (BUSY.includes(status) || status === 500) {
    return unavailable(new Error(`the object storage answered ${status} ${code ?? ''}`));
  }
  const what = code === undefined ? 'not as S3 does; S3_ENDPOINT may name something else' : code;
  return new ServiceError('recording-storage-error', `The object storage answered ${status}: ${what}.`);
}

/** No answer, or one that asks to come back. The address stays in the cause. */
export function unavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'storage-unavailable',
    'The object storage with the recordings does not answer; nothing was changed. Try again later.',
    { cause, retryable: true },
  );
}

export function missingFile(): ServiceError {
  return new ServiceError(
    'recording-file-not-found',
    'The file of the recording is no longer where it was stored.',
  );
}

/** The `Code` of S3's error document. */
export function errorCodeOf(document: string): string | undefined {
  return /<Error>.*?<Code>(\w{1,64})<\/Code>/s.exec(document)?.[1];
}
