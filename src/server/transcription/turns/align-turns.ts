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
    return matchOf(spoken, voiced, 2 * shifts - index) - cost;
  });
  const best = Math.max(...matches);
  const unmoved = matches[shifts] ?? 0;
  if ((best - unmoved) * STEP_MS < speechMs * MIN_GAIN) return 0;
  return (middleOf(matches, best) - shifts) * STEP_MS;
}

/** Returns an array with a 1 for each step of time in which somebody speaks. */
function activity(spans: readonly Span[], { from, to }: Span): Uint8Array {
  const steps = new Uint8Array(Math.max(0, Math.ceil((to - from) / STEP_MS)));
  const stepOf = (at: number): number =>
    Math.min(steps.length, Math.max(0, Math.round((at - from) / STEP_MS)));
  for (const span of spans) steps.fill(1, stepOf(span.from), stepOf(span.to));
  return steps;
}

function count(steps: Uint8Array): number {
  return steps.reduce((sum, step) => sum + step, 0);
}

/** Number of steps with speech in both, minus those with speech in the turns only. */
function matchOf(spoken: Uint8Array, voiced: Uint8Array, shift: number): number {
  let match = 0;
  for (let step = 0; step < spoken.length; step += 1) {
    if (voiced[step + shift] === 1) match += spoken[step] === 1 ? 1 : -1;
  }
  return match;
}

/** Neighbouring shifts match almost as well. The middle of them is the best guess. */
function middleOf(matches: readonly number[], best: number): number {
  const isGood = (match: number | undefined): boolean => match !== undefined && match >= best - 1;
  const first = matches.indexOf(best);
  let last = first;
  while (isGood(matches[last + 1])) last += 1;
  let start = first;
  while (isGood(matches[start - 1])) start -= 1;
  return Math.round((start + last) / 2);
}
