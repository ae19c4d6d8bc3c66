import { createHash, hkdfSync } from 'node:crypto';
import { decryptBytes, ENCRYPTION_KEY_BYTES, encryptBytes } from '../../platform/secrets/encryption-keys.ts';
import { SAMPLE_RATE } from '../engines/speech.ts';

/** One encrypted second of a turn, or less at its end. */
export type SealedSound = { readonly keyId: string; readonly part: number; readonly sealed: string };

/** The turn to which the audio belongs. */
export type SoundPlace = {
  readonly recordingId: string;
  readonly trackId: string;
  readonly startedAt: number;
};

export interface SoundBox {
  seal(samples: Float32Array, place: SoundPlace): readonly SealedSound[];
  /** Returns whether the key is available with which the audio was encrypted. */
  canOpen(keyId: string): boolean;
  /** Decrypts the parts of one turn, in order. Throws when they were not encrypted for this turn. */
  open(parts: readonly SealedSound[], place: SoundPlace): Float32Array;
}

/**
 * Encrypts the audio of a turn in parts of a second, each with a nonce of its own: base64 of nonce, ciphertext (16 bit,
 * little endian, 16 kHz) and tag. Recording, track, time and number of the part are associated data: a part that was moved
 * to another place cannot be decrypted. The first key encrypts and all keys decrypt. The keys are derived from those that
 * encrypt secrets, and are used for nothing else.
 */
export function createSoundBox(encryptionKeys: readonly [Buffer, ...Buffer[]]): SoundBox {
  const derived = encryptionKeys.map(deriveKey);
  const byId = new Map(derived.map((key) => [hashKey(key), key]));
  const current = derived[0] ?? deriveKey(encryptionKeys[0]);
  const keyId = hashKey(current);
  return {
    seal: (samples, place) =>
      splitSeconds(samples).map((second, part) => ({
        keyId,
        part,
        sealed: encryptBytes(current, toBytes(second), describePlace(place, part)).toString('base64'),
      })),
    canOpen: (id) => byId.has(id),
    open: (parts, place) => {
      const opened = parts.map(({ keyId: id, sealed }, part) => {
        const key = byId.get(id);
        if (key === undefined) throw new Error('the key with which the sound was sealed is not configured');
        return decryptBytes(key, Buffer.from(sealed, 'base64'), describePlace(place, part));
      });
      return toSamples(Buffer.concat(opened));
    },
  };
}

function deriveKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'rtc-service kept sound', ENCRYPTION_KEY_BYTES));
}

/** Identifies a key without revealing it. */
function hashKey(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 8);
}

function describePlace({ recordingId, trackId, startedAt }: SoundPlace, part: number): string {
  return JSON.stringify([recordingId, trackId, startedAt, part]);
}

function splitSeconds(samples: Float32Array): readonly Float32Array[] {
  return Array.from({ length: Math.ceil(samples.length / SAMPLE_RATE) }, (_, second) =>
    samples.subarray(second * SAMPLE_RATE, (second + 1) * SAMPLE_RATE),
  );
}

function toBytes(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (const [index, sample] of samples.entries()) {
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))), index * 2);
  }
  return bytes;
}

function toSamples(bytes: Buffer): Float32Array {
  return Float32Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readInt16LE(index * 2) / 32_768);
}
