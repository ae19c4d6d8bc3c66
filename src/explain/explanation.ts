/*
 * An explanation of `rtc explain` as data: --json prints it, and the terminal gets it as text.
 *
 *   headline   the current state, in one sentence
 *   timeline   events, the oldest first
 *   troubles   errors, the most serious first; empty when nothing is wrong
 *   next       what to do, the most urgent step first
 */
export type Explanation = {
  readonly subject: { readonly kind: SubjectKind; readonly id: string };
  readonly headline: string;
  readonly timeline: readonly Moment[];
  readonly troubles: readonly string[];
  readonly next: readonly NextStep[];
};

export const SUBJECT_KINDS = ['room', 'session', 'recording', 'delivery', 'request'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

export type Moment = {
  /** ISO 8601. */
  readonly at: string;
  readonly text: string;
  readonly source: 'event' | 'delivery' | 'recording' | 'transcription' | 'block' | 'request';
  /** Id of the event, delivery, recording, transcription or request; the identity of a block. */
  readonly id: string;
  readonly isTrouble: boolean;
};

export type NextStep = { readonly text: string; readonly command: string | null };

export const EXPLANATION_FIELDS = [
  'subject',
  'headline',
  'timeline',
  'troubles',
  'next',
] as const satisfies readonly (keyof Explanation)[];

export function step(text: string, command: string | null): NextStep {
  return { text, command };
}

/** A part of an explanation, to be combined with others. */
export type Part = Partial<Pick<Explanation, 'timeline' | 'troubles' | 'next'>>;

/** Combines the parts: their moments in the order of time, and a step that several propose once. */
export function combine(parts: readonly Part[]): Pick<Explanation, 'timeline' | 'troubles' | 'next'> {
  const next = new Map<string, NextStep>();
  for (const step of parts.flatMap((part) => part.next ?? [])) {
    const key = step.command ?? step.text;
    if (!next.has(key)) next.set(key, step);
  }
  return {
    // Sorting is stable, so that moments of one instant keep the order of their part.
    timeline: parts
      .flatMap((part) => part.timeline ?? [])
      .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)),
    troubles: [...new Set(parts.flatMap((part) => part.troubles ?? []))],
    next: [...next.values()],
  };
}

export type Person = { readonly identity: string; readonly name?: string | undefined };

/** The identity, and beside it the display name, which guests choose themselves. */
export function showPerson({ identity, name }: Person): string {
  return name === undefined || name === '' || name === identity ? identity : `${identity} (${name})`;
}
