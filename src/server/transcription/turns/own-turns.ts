import type { Span } from './align-turns.ts';
import type { TurnSpan } from './cut-at-turns.ts';

/** Speech beside a removed turn that is shorter belongs to that turn if nobody else spoke: the two detectors do not agree exactly. */
const MIN_REST_MS = 1_000;
/** Parts that are shorter contain no word. */
const MIN_PART_MS = 200;

/**
 * Selects the turns that are recognised from their own track: those that overlap with another participant's, if the audio of
 * all of these was kept.
 */
export function selectOwnTurns<T extends TurnSpan>(
  turns: readonly T[],
  isKept: (turn: T) => boolean,
): readonly T[] {
  return turns.filter((turn) => {
    const others = turns.filter((other) => other.trackId !== turn.trackId && overlaps(turn, other));
    return others.length > 0 && isKept(turn) && others.every(isKept);
  });
}

/** Removes the turns that are recognised from their own tracks from a stretch of the recording's speech. */
export function withoutOwnTurns(
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
