import type { Span } from './align-turns.ts';

/** A turn by the clock of the recording. */
export type TurnSpan = Span & { readonly trackId: string };

/** A part of a stretch of speech, and whose it is. */
export type SpokenPart = {
  /** The part ends somewhere in this range: within it both neighbours speak, or neither does. */
  readonly cut: Span;
  /** Undefined where nobody was heard. */
  readonly trackId: string | undefined;
};

/** Less than this of another voice is not worth a cut: the two detectors do not agree to the last syllable. */
const SWITCH_MS = 80;
/** Speech that lies beside a turn belongs to it when it is this near. */
const NEAR_MS = 500;

/**
 * Cuts a stretch of speech where the speaker changes. Each part gets the track that leaves the least of it unexplained:
 * somebody who is interrupted by a word while speaking on keeps the floor.
 */
export function cutAtTurns(speech: Span, turns: readonly TurnSpan[]): readonly SpokenPart[] {
  const near = turns.filter(({ from, to }) => from < speech.to + NEAR_MS && to > speech.from - NEAR_MS);
  const inside = near.filter(({ from, to }) => from < speech.to && to > speech.from);
  const end = { from: speech.to, to: speech.to };
  if (inside.length === 0) return [{ cut: end, trackId: nearest(speech, near)?.trackId }];
  const intervals = intervalsOf(speech, inside);
  const labels = assign(intervals, [...new Set(inside.map(({ trackId }) => trackId))]);
  const parts: SpokenPart[] = [];
  for (const [index, label] of labels.entries()) {
    const next = labels[index + 1];
    if (next === label) continue;
    const cut = next === undefined ? end : cutRange(intervals, index, [label, next]);
    parts.push({ cut, trackId: label });
  }
  return parts;
}

/** How long two or more tracks have speech at the same time. */
export function overlapOf(speech: Span, turns: readonly TurnSpan[]): number {
  const inside = turns.filter(({ from, to }) => from < speech.to && to > speech.from);
  return intervalsOf(speech, inside)
    .filter(({ voices }) => voices.size > 1)
    .reduce((sum, { from, to }) => sum + to - from, 0);
}

/** A stretch in which nobody begins or ends. */
type Interval = Span & { readonly voices: ReadonlySet<string> };

function intervalsOf({ from, to }: Span, turns: readonly TurnSpan[]): readonly Interval[] {
  const inner = turns.flatMap((turn) => [turn.from, turn.to]).filter((at) => at > from && at < to);
  const marks = [...new Set([from, ...inner, to])].toSorted((one, other) => one - other);
  return marks.slice(1).map((end, index) => {
    const start = marks[index] ?? from;
    const speaking = turns.filter((turn) => turn.from < end && turn.to > start);
    return { from: start, to: end, voices: new Set(speaking.map(({ trackId }) => trackId)) };
  });
}

type Path = { readonly cost: number; readonly labels: readonly string[] };

/** The cheapest labels: time in which only others speak costs its length, and each change of the speaker SWITCH_MS. */
function assign(intervals: readonly Interval[], tracks: readonly string[]): readonly string[] {
  let paths = new Map<string, Path>(tracks.map((track) => [track, { cost: 0, labels: [] }]));
  for (const interval of intervals) {
    const cheapest = cheapestOf([...paths.values()]);
    const next = new Map<string, Path>();
    for (const [track, stay] of paths) {
      const isFirst = stay.labels.length === 0;
      const isSwitched = !isFirst && cheapest.cost + SWITCH_MS < stay.cost;
      const { cost, labels } = isSwitched ? { ...cheapest, cost: cheapest.cost + SWITCH_MS } : stay;
      next.set(track, { cost: cost + costOf(interval, track), labels: [...labels, track] });
    }
    paths = next;
  }
  return cheapestOf([...paths.values()]).labels;
}

function costOf({ voices, from, to }: Interval, track: string): number {
  return voices.size === 0 || voices.has(track) ? 0 : to - from;
}

function cheapestOf(paths: readonly Path[]): Path {
  return paths.reduce((best, path) => (path.cost < best.cost ? path : best));
}

/** Everything around the end of the interval that is as good for the one as for the other. */
function cutRange(intervals: readonly Interval[], index: number, labels: readonly string[]): Span {
  const isFree = (interval: Interval | undefined): boolean =>
    interval !== undefined && labels.every((label) => costOf(interval, label) === 0);
  let [first, last] = [index, index];
  while (isFree(intervals[first])) first -= 1;
  while (isFree(intervals[last + 1])) last += 1;
  const at = intervals[index]?.to ?? 0;
  return { from: intervals[first + 1]?.from ?? at, to: intervals[last]?.to ?? at };
}

function nearest({ from, to }: Span, turns: readonly TurnSpan[]): TurnSpan | undefined {
  const distance = (turn: TurnSpan): number => Math.max(turn.from - to, from - turn.to);
  return turns.toSorted((one, other) => distance(one) - distance(other))[0];
}
