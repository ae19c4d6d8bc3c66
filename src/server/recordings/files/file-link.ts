import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FileUrls } from '../../webhooks/sender/sender.ts';
import type { RecordingStores } from '../store.ts';
import type { RecordingFiles } from './recording-files.ts';

/*
 * Links to local files of recordings, for people without an API key: /recordings/<id>/file?expires=&signature=.
 *
 * The signature is an HMAC over id and expiry with a key derived from ENCRYPTION_KEY. API_SECRET is not used for three
 * reasons: the links reach third parties, who could use them to test guesses of a secret that a person chose; all instances
 * share ENCRYPTION_KEY already; and a rotation of API_SECRET breaks no link. Of several keys, the one that all instances have
 * signs, and all are accepted.
 */

export type LinkDeps = {
  readonly clock: Clock;
  readonly linkKeys: LinkKeys;
};

export type LinkKeys = {
  readonly all: readonly Buffer[];
  /** The position in `all` of the key that signs now. */
  readonly currentIndex: () => number;
};

export type FileLink = {
  readonly id: string;
  /** Unix seconds. */
  readonly expires: number;
  readonly signature: string;
};

/** Derives keys by RFC 5869. The label separates them from other keys that are derived from the same ones. */
export function deriveLinkKeys(keys: readonly Buffer[], currentIndex: () => number): LinkKeys {
  const derive = (key: Buffer): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', 'rtc-service recording file link', 32));
  return { all: keys.map(derive), currentIndex };
}

/** Returns path and query of a link, relative to the service's own address. */
export function signFileLink({ clock, linkKeys }: LinkDeps, id: string, ttlSeconds: number): string {
  const expires = Math.floor(clock.now() / 1000) + ttlSeconds;
  const key = linkKeys.all[linkKeys.currentIndex()];
  if (key === undefined) throw new Error('there is no key that signs links');
  const signature = signLink(key, id, expires).toString('base64url');
  return `/recordings/${encodeURIComponent(id)}/file?expires=${expires}&signature=${signature}`;
}

/** Throws invalid-signature, also for a link that has expired. The signature is checked before the expiry. */
export function checkFileLink({ clock, linkKeys }: LinkDeps, { id, expires, signature }: FileLink): void {
  const given = Buffer.from(signature, 'base64url');
  const isSigned = linkKeys.all.some((key) => isEqual(signLink(key, id, expires), given));
  if (!isSigned) {
    throw new ServiceError(
      'invalid-signature',
      'The signature of this link is wrong; use the link unchanged.',
    );
  }
  if (clock.now() < expires * 1000) return;
  const at = new Date(expires * 1000).toISOString();
  throw new ServiceError('invalid-signature', `This link expired at ${at}; ask for a new one.`);
}

function signLink(key: Buffer, id: string, expires: number): Buffer {
  return createHmac('sha256', key).update(`${expires}\n${id}`).digest();
}

function isEqual(expected: Buffer, given: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(expected, given);
}

type FileUrlsDeps = LinkDeps & {
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly recordingFiles: RecordingFiles;
  /** Address of this service for receivers. It is known once the service listens. */
  readonly serviceUrl: () => string;
};

/** A receiver of webhooks has 24 h to fetch the file. */
const TTL_SECONDS = 24 * 3600;

/**
 * Creates the URLs of files in webhooks: a pre-signed URL for an object of a bucket, and a signed link to this service for a
 * local file.
 */
export function createFileUrls(deps: FileUrlsDeps): FileUrls {
  return {
    findUrl: async (recordingId) => {
      const recording = await deps.store.recordings.find(recordingId);
      // The size is stored when the file is complete.
      if (recording === undefined || recording.sizeBytes === null) return undefined;
      if (recording.bucket !== null) return await deps.recordingFiles.signedUrl(recording, TTL_SECONDS);
      return deps.serviceUrl() + signFileLink(deps, recording.id, TTL_SECONDS);
    },
  };
}
