import type { Span } from './align-turns.ts';

/** A turn by the clock of the recording. */
export type TurnSpan = Span & { readonly trackId: string };

/** A part of a stretch of speech with its speaker. */
export type SpokenPart = {
  /** Range in which the part may end: in it both neighbours speak, or neither does. */
  readonly cut: Span;
  /** Track of the speaker; undefined when no turn was detected. */
  readonly trackId: string | undefined;
};

/** A shorter stretch of another voice causes no cut, because the two detectors differ by up to a syllable. */
const SWITCH_MS = 80;
/** Speech beside a turn belongs to it within this distance. */
const NEAR_MS = 500;

/**
 * Cuts a stretch of speech where the speaker changes. Each part gets the track that explains most of it: a speaker who
 * continues while somebody interrupts with a word keeps the part.
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

/** Returns the milliseconds in which two or more tracks have speech at the same time. */
export function overlapOf(speech: Span, turns: readonly TurnSpan[]): number {
  const inside = turns.filter(({ from, to }) => from < speech.to && to > speech.from);
  return intervalsOf(speech, inside)
    .filter(({ voices }) => voices.size > 1)
    .reduce((sum, { from, to }) => sum + to - from, 0);
}

/** A stretch of time in which no turn begins or ends. */
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

/**
 * Assigns tracks to intervals at the lowest cost: time in which only others speak costs its length, and each change of the
 * speaker costs SWITCH_MS.
 */
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

/** Returns the range around the end of the interval that fits both of its neighbours equally well. */
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
