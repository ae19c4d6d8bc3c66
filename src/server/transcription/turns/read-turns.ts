import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { splitSegment } from '../audio/split-segment.ts';
import { SAMPLE_RATE } from '../engines/speech.ts';
import type { SoundBox } from './sound-box.ts';
import type { Turn, TurnStores } from './store.ts';
import type { SpokenSegment, TurnCutter } from './turn-cutter.ts';

type ReadTurnsDeps = { readonly store: Pick<TurnStores, 'turns'>; readonly clock: Clock };

const POLL_INTERVAL_MS = 250;

/**
 * Reads the turns of a recording that has ended. Waits while a worker still stores the last turns, at most until the end of
 * its lease if it has died. Rejects when the signal is aborted.
 */
export async function readTurns(
  { store, clock }: ReadTurnsDeps,
  recordingId: string,
  signal: AbortSignal,
): Promise<readonly Turn[]> {
  while (await store.turns.isListening(recordingId, clock.now())) {
    await clock.sleep(POLL_INTERVAL_MS, signal);
  }
  return await store.turns.listTurns(recordingId);
}

export type ReadSoundDeps = {
  readonly store: Pick<TurnStores, 'turns'>;
  readonly soundBox: Pick<SoundBox, 'canOpen' | 'open'>;
  readonly log: Log;
};

type TurnKey = Pick<Turn, 'trackId' | 'startedAt'>;

/** Reads which turns have audio that is kept and can be decrypted. Returns a function that checks a turn. */
export async function readKeptSounds(
  { store, soundBox, log }: ReadSoundDeps,
  recordingId: string,
): Promise<(turn: TurnKey) => boolean> {
  const kept = await store.turns.listSounds(recordingId);
  const openable = kept.filter(({ keyId }) => soundBox.canOpen(keyId));
  if (openable.length < kept.length) {
    const fields = { recordingId, sounds: kept.length - openable.length };
    log.warn(
      fields,
      'the sound of tracks was sealed with another key; give all workers the same ENCRYPTION_KEY',
    );
  }
  const keys = new Set(openable.map(toKey));
  return (turn) => keys.has(toKey(turn));
}

type OwnTurns = {
  readonly recordingId: string;
  readonly cutter: Pick<TurnCutter, 'ownTurns'>;
  /** Longest input of the recogniser. */
  readonly maxSegmentSeconds: number;
};

/** Yields the turns in which people speak at the same time one after the other, each with the audio of its own track. */
export async function* readOwnTurns(
  deps: ReadSoundDeps,
  { recordingId, cutter, maxSegmentSeconds }: OwnTurns,
): AsyncGenerator<readonly SpokenSegment[]> {
  for (const { turn, from, overlapMs } of cutter.ownTurns()) {
    const samples = await readSound(deps, recordingId, turn);
    if (samples === undefined) continue;
    const start = Math.round((from / 1000) * SAMPLE_RATE);
    const pieces = splitSegment({ start, samples }, maxSegmentSeconds * SAMPLE_RATE);
    yield pieces.map((segment) => ({ segment, speaker: turn, overlapMs }));
  }
}

/** Returns undefined when the audio was deleted since, or cannot be decrypted, which is logged. */
async function readSound(
  { store, soundBox, log }: ReadSoundDeps,
  recordingId: string,
  { trackId, startedAt }: TurnKey,
): Promise<Float32Array | undefined> {
  const place = { recordingId, trackId, startedAt };
  const parts = await store.turns.readSound(place);
  if (parts.length === 0) return undefined;
  try {
    return soundBox.open(parts, place);
  } catch (error) {
    log.error({ recordingId, trackId, err: error }, 'the sound of a turn cannot be opened');
    return undefined;
  }
}

function toKey({ trackId, startedAt }: TurnKey): string {
  return `${startedAt} ${trackId}`;
}
