import { quietestPoint } from '../audio/split-segment.ts';
import { SPEECH_MARGINS } from '../audio/voice-activity.ts';
import { SAMPLE_RATE, toMs, type VoicedSegment } from '../engines/speech.ts';
import {
  alignTurns,
  cutAtTurns,
  measureOverlap,
  type Span,
  type SpokenPart,
  type TurnSpan,
} from './cut-at-turns.ts';
import type { Turn } from './store.ts';

/*
 * Decides who said what in a recording. The recording has all voices in one track, of which the detector has made segments at
 * the pauses. A worker that listened to the room has noted turns: from when to when each participant's own track had a voice,
 * by another clock. The turns are first shifted until they fit the speech. Where people spoke at once, and their own tracks were
 * kept, their turns are removed from the recording and recognised from those tracks. What remains of a segment is cut where the
 * speaker changes.
 */

/** Speech of a recording with its speaker. */
export type SpokenSegment = {
  readonly segment: VoicedSegment;
  /** Undefined when no worker listened, or when no turn was detected. */
  readonly speaker: Pick<Turn, 'trackId' | 'identity' | 'name'> | undefined;
  /** Null when no turn was detected. */
  readonly overlapMs: number | null;
};

/** A turn that is recognised from its own track and not from the recording. */
type OwnTurn = {
  readonly turn: Turn;
  /** Start of the turn's audio with its margin, in milliseconds from the beginning of the recording. */
  readonly from: number;
  readonly overlapMs: number;
};

type PlacedTurn = TurnSpan & { readonly turn: Turn };

/** Speech that is held before the turns are aligned with it: 4 MB of samples. */
const HELD_MS = 60_000;

/** Speakers may change this far beyond the end of a turn, because the detectors do not agree exactly. */
const CHANGE_MARGIN_MS = 50;

/** Parts that are shorter contain no word. */
const MIN_PART_MS = 200;
const MIN_PART_SAMPLES = (SAMPLE_RATE * MIN_PART_MS) / 1000;

/**
 * Speech that ends this long before the first turn was spoken before the worker listened, however far the turns are shifted.
 */
const UNATTENDED_MS = 5_000;

const LEAD_MS = SPEECH_MARGINS.leadSeconds * 1000;

const TAIL_MS = SPEECH_MARGINS.tailSeconds * 1000;

/**
 * Cuts the speech of a recording where the speaker changes, and finds the speaker of each part. The audio is cut and not the
 * text, because few recognisers return the times of words. Every part is recognised as the speech of one person.
 */
export class SpeakerAttribution {
  readonly #turns: readonly Turn[];
  readonly #speakers: ReadonlyMap<string, Turn>;
  readonly #originAt: number;
  /** Estimated start of the first turn. */
  readonly #firstMs: number;
  /** The turns by the clock of the recording; undefined before they were aligned. */
  #spans: readonly PlacedTurn[] | undefined;
  /** The turns that are recognised from their own tracks. */
  #own: readonly PlacedTurn[] = [];
  /** The other turns, which are recognised from the recording. */
  #mixed: readonly PlacedTurn[] = [];
  readonly #isKept: (turn: Turn) => boolean;
  #held: VoicedSegment[] = [];
  #offsetMs = 0;

  /**
   * `originAt`: the estimated beginning of the recording by the clock of the turns. `isKept`: whether the audio of a turn's
   * own track is available.
   */
  constructor(turns: readonly Turn[], originAt: number, isKept: (turn: Turn) => boolean = () => false) {
    this.#turns = turns;
    this.#isKept = isKept;
    this.#speakers = new Map(turns.map((turn) => [turn.trackId, turn]));
    this.#originAt = originAt;
    this.#firstMs = Math.min(...turns.map(({ startedAt }) => startedAt - originAt));
    if (turns.length === 0) this.#spans = [];
  }

  /** The milliseconds by which the turns were shifted; 0 before the alignment. */
  get offsetMs(): number {
    return this.#offsetMs;
  }

  /**
   * Returns the segments whose speaker is known by now. The beginning of a recording is held until the turns can be aligned.
   */
  push(segments: readonly VoicedSegment[]): readonly SpokenSegment[] {
    if (this.#spans === undefined) {
      const unattended = segments.filter((segment) => toSpan(segment).to < this.#firstMs - UNATTENDED_MS);
      this.#held.push(...segments.slice(unattended.length));
      const unnamed = unattended.map((segment) => ({ segment, speaker: undefined, overlapMs: null }));
      return this.#heldMs() < HELD_MS ? unnamed : [...unnamed, ...this.flush()];
    }
    return segments.flatMap((segment) => this.#attribute(segment));
  }

  /** Returns the remaining segments. */
  flush(): readonly SpokenSegment[] {
    const held = this.#held;
    this.#held = [];
    if (this.#spans === undefined) this.#placeTurns(held);
    return held.flatMap((segment) => this.#attribute(segment));
  }

  /** Turns that are in none of the segments, to be recognised from their own tracks; known after `flush`. */
  ownTurns(): readonly OwnTurn[] {
    const spans = this.#spans ?? [];
    return this.#own.map((placed) => ({
      turn: placed.turn,
      from: Math.max(0, placed.from - LEAD_MS),
      overlapMs: measureOverlap(placed, spans),
    }));
  }

  #heldMs(): number {
    return this.#held.map(toSpan).reduce((sum, { from, to }) => sum + to - from, 0);
  }

  #placeTurns(speech: readonly VoicedSegment[]): void {
    const spans = this.#align(speech);
    this.#spans = spans;
    this.#own = selectOwnTurns(spans, ({ turn }) => this.#isKept(turn));
    const own = new Set(this.#own);
    this.#mixed = spans.filter((span) => !own.has(span));
  }

  #align(speech: readonly VoicedSegment[]): readonly PlacedTurn[] {
    const spans = this.#turns.map((turn) => ({
      turn,
      trackId: turn.trackId,
      from: turn.startedAt - this.#originAt,
      to: turn.endedAt - this.#originAt,
    }));
    const withoutMargins = speech
      .map(toSpan)
      .map(({ from, to }) => ({ from: from + LEAD_MS, to: to - TAIL_MS }));
    this.#offsetMs = alignTurns(spans, withoutMargins);
    return spans.map((span) => ({
      ...span,
      from: span.from + this.#offsetMs,
      to: span.to + this.#offsetMs,
    }));
  }

  #attribute(segment: VoicedSegment): readonly SpokenSegment[] {
    const rest = withoutOwnTurns(toSpan(segment), this.#own, this.#mixed);
    return rest.flatMap((span) => this.#separateSpeakers(takeSpan(segment, span)));
  }

  #separateSpeakers({ start, samples }: VoicedSegment): readonly SpokenSegment[] {
    const turns = this.#mixed;
    const parts = cutAtTurns(toSpan({ start, samples }), turns);
    return toSampleParts({ start, samples }, parts).map(({ from, to, trackId }) => {
      const segment = { start: start + from, samples: samples.subarray(from, to) };
      const speaker = trackId === undefined ? undefined : this.#speakers.get(trackId);
      const overlapMs = speaker === undefined ? null : measureOverlap(toSpan(segment), turns);
      return { segment, speaker, overlapMs };
    });
  }
}

/** Indices of samples in a segment, not milliseconds. */
type SamplePart = {
  readonly from: number;
  readonly to: number;
  readonly trackId: string | undefined;
};

/**
 * Finds the samples of each part: a part ends at the quietest point of the range in which it may end. A part that is too short
 * is joined to the previous part, or to the next one when it is the first.
 */
function toSampleParts(segment: VoicedSegment, parts: readonly SpokenPart[]): readonly SamplePart[] {
  const found: SamplePart[] = [];
  let from = 0;
  for (const [index, { cut, trackId }] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const to = isLast ? segment.samples.length : findQuietest(segment, cut);
    const before = found.at(-1);
    if (to - from >= MIN_PART_SAMPLES || (isLast && before === undefined)) found.push({ from, to, trackId });
    else if (before !== undefined) found[found.length - 1] = { ...before, to };
    // A first part that is too short stays in front of the next one.
    else continue;
    from = to;
  }
  return found;
}

function findQuietest({ start, samples }: VoicedSegment, range: Span): number {
  const toIndex = (ms: number): number =>
    Math.min(samples.length, Math.max(0, Math.round((ms / 1000) * SAMPLE_RATE) - start));
  return quietestPoint(samples, toIndex(range.from - CHANGE_MARGIN_MS), toIndex(range.to + CHANGE_MARGIN_MS));
}

/** Returns the part of a segment that is in the span. */
function takeSpan(segment: VoicedSegment, { from, to }: Span): VoicedSegment {
  const { start, samples } = segment;
  const whole = toSpan(segment);
  if (from === whole.from && to === whole.to) return segment;
  const [first, end] = [toSamples(from) - start, toSamples(to) - start].map((index) => Math.max(0, index));
  return { start: start + (first ?? 0), samples: samples.subarray(first, end) };
}

function toSamples(ms: number): number {
  return Math.round((ms / 1000) * SAMPLE_RATE);
}

/** Milliseconds from the beginning of the recording. */
function toSpan({ start, samples }: VoicedSegment): Span {
  return { from: toMs(start), to: toMs(start + samples.length) };
}

/**
 * Speech beside a removed turn that is shorter belongs to that turn if nobody else spoke: the two detectors do not agree
 * exactly.
 */
const MIN_REST_MS = 1_000;

/**
 * Selects the turns that are recognised from their own track: those that overlap with another participant's, if all of these
 * are as well. Otherwise what the others said meanwhile would be in neither: it is removed from the recording with the turn.
 */
function selectOwnTurns<T extends TurnSpan>(turns: readonly T[], isKept: (turn: T) => boolean): readonly T[] {
  const overlapping = turns
    .filter(isKept)
    .map((turn) => ({
      turn,
      others: turns.filter((other) => other.trackId !== turn.trackId && overlaps(turn, other)),
    }))
    .filter(({ others }) => others.length > 0);
  const own = new Set(overlapping.map(({ turn }) => turn));
  for (let size = -1; size !== own.size; ) {
    size = own.size;
    for (const { turn, others } of overlapping)
      if (!others.every((other) => own.has(other))) own.delete(turn);
  }
  return [...own];
}

/** Removes the turns that are recognised from their own tracks from a stretch of the recording's speech. */
function withoutOwnTurns(
  speech: Span,
  own: readonly TurnSpan[],
  others: readonly TurnSpan[],
): readonly Span[] {
  const taken = own.filter((turn) => overlaps(turn, speech)).toSorted((one, other) => one.from - other.from);
  if (taken.length === 0) return [speech];
  const rest: Span[] = [];
  let { from } = speech;
  for (const turn of taken) {
    if (turn.from > from) rest.push({ from, to: turn.from });
    from = Math.max(from, turn.to);
  }
  if (from < speech.to) rest.push({ from, to: speech.to });
  return rest.filter((span) => {
    const hasOthers = others.some((turn) => overlaps(turn, span));
    return span.to - span.from >= (hasOthers ? MIN_PART_MS : MIN_REST_MS);
  });
}

function overlaps(one: Span, other: Span): boolean {
  return one.from < other.to && other.from < one.to;
}
