import { createHash } from 'node:crypto';
import { MAX_EVENT_METADATA_BYTES } from '../../contract/names.ts';
import type { RoomSession } from './store.ts';

/*
 * What is known of a room's metadata, as JSON text in the row of its session. The media server tells the metadata with some
 * events only, and the others take it from there. Events contain it, so that a long one would be stored and sent with each
 * of them: of one that is longer than events contain, only its length and its hash are kept.
 */

/** Leaves out the metadata of sessions that is stored already, which may be long, and may have changed since it was read. */
export function withChangedMetadata(
  sessions: readonly RoomSession[],
  stored: readonly RoomSession[],
): readonly RoomSession[] {
  const known = new Map(stored.map(({ sid, metadata }) => [sid, metadata]));
  return sessions.map((session) =>
    session.metadata === known.get(session.sid) ? { ...session, metadata: null } : session,
  );
}

/** The members of a room's metadata in events and sessions. */
export type ShownMetadata = {
  /** Null when it is not known, or longer than events contain; the other members then say what it is. */
  readonly metadata: string | null;
  readonly metadataBytes?: number;
  readonly metadataSha256?: string;
};

/** `at`: when the room had it. */
type KnownMetadata = ShownMetadata & { readonly at: number };

/** Returns what is known when a room had the metadata at an instant: the text from before if nothing has changed. */
export function learnMetadata(known: string | null, metadata: string | undefined, at: number): string | null {
  if (metadata === undefined) return known;
  const earlier = parseKnown(known);
  const shown = toShown(metadata);
  const isSame = earlier?.metadata === shown.metadata && earlier.metadataSha256 === shown.metadataSha256;
  return isSame ? known : JSON.stringify({ at, ...shown } satisfies KnownMetadata);
}

/** Keeps what was known if it is later than what an event told, which may arrive after a change that followed it. */
export function withLaterMetadata(told: RoomSession, known: RoomSession | undefined): RoomSession {
  if (known === undefined || known.metadata === told.metadata) return told;
  const isEarlier = (parseKnown(known.metadata)?.at ?? 0) > (parseKnown(told.metadata)?.at ?? 0);
  return isEarlier ? { ...told, metadata: known.metadata } : told;
}

export function showMetadata(known: string | null): ShownMetadata {
  const { at: _, ...shown } = parseKnown(known) ?? { at: 0, metadata: null };
  return shown;
}

function parseKnown(known: string | null): KnownMetadata | undefined {
  return known === null ? undefined : JSON.parse(known);
}

function toShown(metadata: string): ShownMetadata {
  const metadataBytes = Buffer.byteLength(metadata);
  if (metadataBytes <= MAX_EVENT_METADATA_BYTES) return { metadata };
  const metadataSha256 = createHash('sha256').update(metadata).digest('hex');
  return { metadata: null, metadataBytes, metadataSha256 };
}
