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
  const intervals = splitAtChanges(speech, inside);
  const labels = assign(intervals, [...new Set(inside.map(({ trackId }) => trackId))]);
  const parts: SpokenPart[] = [];
  for (const [index, label] of labels.entries()) {
    const next = labels[index + 1];
    if (next === label) continue;
    const cut = next === undefined ? end : findCut(intervals, index, [label, next]);
    parts.push({ cut, trackId: label });
  }
  return parts;
}

/** Returns the milliseconds in which two or more tracks have speech at the same time. */
export function measureOverlap(speech: Span, turns: readonly TurnSpan[]): number {
  const inside = turns.filter(({ from, to }) => from < speech.to && to > speech.from);
  return splitAtChanges(speech, inside)
    .filter(({ voices }) => voices.size > 1)
    .reduce((sum, { from, to }) => sum + to - from, 0);
}

/** A stretch of time in which no turn begins or ends. */
type Interval = Span & { readonly voices: ReadonlySet<string> };

/** Splits the time wherever a turn begins or ends. */
function splitAtChanges({ from, to }: Span, turns: readonly TurnSpan[]): readonly Interval[] {
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
    const cheapest = findCheapest([...paths.values()]);
    const next = new Map<string, Path>();
    for (const [track, stay] of paths) {
      const isFirst = stay.labels.length === 0;
      const isSwitched = !isFirst && cheapest.cost + SWITCH_MS < stay.cost;
      const { cost, labels } = isSwitched ? { ...cheapest, cost: cheapest.cost + SWITCH_MS } : stay;
      next.set(track, { cost: cost + measureCost(interval, track), labels: [...labels, track] });
    }
    paths = next;
  }
  return findCheapest([...paths.values()]).labels;
}

function measureCost({ voices, from, to }: Interval, track: string): number {
  return voices.size === 0 || voices.has(track) ? 0 : to - from;
}

function findCheapest(paths: readonly Path[]): Path {
  return paths.reduce((best, path) => (path.cost < best.cost ? path : best));
}

/** Returns the range around the end of the interval that fits both of its neighbours equally well. */
function findCut(intervals: readonly Interval[], index: number, labels: readonly string[]): Span {
  const isFree = (interval: Interval | undefined): boolean =>
    interval !== undefined && labels.every((label) => measureCost(interval, label) === 0);
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

/** A span of time in milliseconds, by any clock. */
export type Span = { readonly from: number; readonly to: number };

const STEP_MS = 10;

/** Maximum shift: differences between the clocks of a recorder and a worker, and delays of a recorder, are smaller. */
const MAX_SHIFT_MS = 4_000;

/** Minimum speech for an alignment. Less would match in many places. */
const MIN_SPEECH_MS = 5_000;

const MIN_TURNS = 4;

/**
 * Cost of a shift by one second, as a share of the speech: of two positions that match equally well the nearer one is right.
 */
const DISTANCE_COST = 0.02;

/** A shifted position must match better than the position by the clocks, by this share of the speech. */
const MIN_GAIN = 0.02;

/**
 * Returns by how many milliseconds the turns have to be moved to lie on the recorded speech, at most four seconds to either
 * side; 0 where no position is plainly better. One machine detected the turns; another machine made the recording, later and
 * by its own clock. `speech` is the speech of a recording from its beginning, or of a part of it.
 */
export function alignTurns(turns: readonly Span[], speech: readonly Span[]): number {
  const from = Math.min(...speech.map((span) => span.from));
  const to = Math.max(...speech.map((span) => span.to));
  const spoken = activity(speech, { from, to });
  const speechMs = count(spoken) * STEP_MS;
  const inside = turns.filter((turn) => turn.from < to + MAX_SHIFT_MS && turn.to > from - MAX_SHIFT_MS);
  if (speechMs < MIN_SPEECH_MS || inside.length < MIN_TURNS) return 0;
  const voiced = activity(inside, { from: from - MAX_SHIFT_MS, to: to + MAX_SHIFT_MS });
  const shifts = MAX_SHIFT_MS / STEP_MS;
  // The turns lie a whole MAX_SHIFT_MS to the right in their own array.
  const matches = Array.from({ length: 2 * shifts + 1 }, (_, index) => {
    const seconds = (Math.abs(index - shifts) * STEP_MS) / 1000;
    const cost = seconds * DISTANCE_COST * (speechMs / STEP_MS);
    return countMatches(spoken, voiced, 2 * shifts - index) - cost;
  });
  const best = Math.max(...matches);
  const unmoved = matches[shifts] ?? 0;
  if ((best - unmoved) * STEP_MS < speechMs * MIN_GAIN) return 0;
  return (findMiddle(matches, best) - shifts) * STEP_MS;
}

/** Returns an array with a 1 for each step of time in which somebody speaks. */
function activity(spans: readonly Span[], { from, to }: Span): Uint8Array {
  const steps = new Uint8Array(Math.max(0, Math.ceil((to - from) / STEP_MS)));
  const toStep = (at: number): number =>
    Math.min(steps.length, Math.max(0, Math.round((at - from) / STEP_MS)));
  for (const span of spans) steps.fill(1, toStep(span.from), toStep(span.to));
  return steps;
}

function count(steps: Uint8Array): number {
  return steps.reduce((sum, step) => sum + step, 0);
}

/** Number of steps with speech in both, minus those with speech in the turns only. */
function countMatches(spoken: Uint8Array, voiced: Uint8Array, shift: number): number {
  let match = 0;
  for (let step = 0; step < spoken.length; step += 1) {
    if (voiced[step + shift] === 1) match += spoken[step] === 1 ? 1 : -1;
  }
  return match;
}

/** Neighbouring shifts match almost as well. The middle of them is the best guess. */
function findMiddle(matches: readonly number[], best: number): number {
  const isGood = (match: number | undefined): boolean => match !== undefined && match >= best - 1;
  const first = matches.indexOf(best);
  let last = first;
  while (isGood(matches[last + 1])) last += 1;
  let start = first;
  while (isGood(matches[start - 1])) start -= 1;
  return Math.round((start + last) / 2);
}
