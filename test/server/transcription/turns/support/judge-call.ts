import type { ScriptedTurn } from './scripted-call.ts';

/** A segment, with times relative to the beginning of the call. */
export type FoundSegment = {
  readonly identity: string | null;
  readonly from: number;
  readonly to: number;
  readonly isOverlap: boolean;
};

export type Judgement = {
  readonly turns: number;
  /** Turns of which at least half is covered by segments, most of it by segments with the right speaker. */
  readonly rightlyNamed: number;
  /** Pairs of turns that overlap by at least MIN_OVERLAP_MS. */
  readonly overlaps: number;
  /** Overlaps in which a segment is marked as overlapping. */
  readonly foundOverlaps: number;
  /** Segments that are marked as overlapping although nobody else speaks in them for a tenth of a second. */
  readonly falseOverlaps: number;
  readonly wrong: readonly ScriptedTurn[];
};

const MIN_OVERLAP_MS = 500;
const NO_OVERLAP_MS = 100;
const STEP_MS = 10;

/** Compares the segments with the script of the call. Where two people speak at once, either name is right. */
export function judgeCall(script: readonly ScriptedTurn[], found: readonly FoundSegment[]): Judgement {
  const overlaps = script.flatMap((turn, index) => {
    const next = script[index + 1];
    return next !== undefined && turn.to - next.from >= MIN_OVERLAP_MS
      ? [{ from: next.from, to: Math.min(turn.to, next.to) }]
      : [];
  });
  const wrong = script.filter((turn) => !isRightlyNamed(turn, script, found));
  return {
    ...{ turns: script.length, rightlyNamed: script.length - wrong.length, wrong },
    overlaps: overlaps.length,
    foundOverlaps: overlaps.filter((overlap) =>
      found.some((segment) => segment.isOverlap && sharedMs(segment, overlap) > 0),
    ).length,
    falseOverlaps: found.filter((one) => one.isOverlap && overlapMs(one, script) < NO_OVERLAP_MS).length,
  };
}

function isRightlyNamed(
  turn: ScriptedTurn,
  script: readonly ScriptedTurn[],
  found: readonly FoundSegment[],
): boolean {
  const near = script.filter((other) => other !== turn && sharedMs(other, turn) > 0);
  const [own, all] = [{ ms: 0 }, { ms: 0 }];
  let alone = 0;
  for (let at = turn.from; at < turn.to; at += STEP_MS) {
    if (near.some(({ from, to }) => from <= at && at < to)) continue;
    alone += STEP_MS;
    const segment = found.find(({ from, to }) => from <= at && at < to);
    if (segment === undefined) continue;
    all.ms += STEP_MS;
    if (segment.identity === turn.identity) own.ms += STEP_MS;
  }
  return all.ms >= alone / 2 && own.ms > all.ms / 2;
}

function overlapMs(segment: FoundSegment, script: readonly ScriptedTurn[]): number {
  let sum = 0;
  for (let at = segment.from; at < segment.to; at += STEP_MS) {
    if (script.filter(({ from, to }) => from <= at && at < to).length > 1) sum += STEP_MS;
  }
  return sum;
}

type Span = { readonly from: number; readonly to: number };

function sharedMs(one: Span, other: Span): number {
  return Math.max(0, Math.min(one.to, other.to) - Math.max(one.from, other.from));
}
