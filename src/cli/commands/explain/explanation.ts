import { escapeForTerminal, type Terminal } from '../../terminal/terminal.ts';
import { formatInstant, pastTime, plural } from '../../terminal/time.ts';
import { wrapWords } from '../../terminal/wrap-text.ts';

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

export const SUBJECT_KINDS = ['room', 'recording', 'delivery', 'request'] as const;
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

/** Moments that are shown by default; they fit a screen with the rest of the explanation. */
export const SHOWN_MOMENTS = 30;

/**
 * Formats the explanation as text: the state, the events, and at the end, which a terminal shows, errors and what to do.
 * Elsewhere nothing is wrapped, and times are RFC 3339. Characters that would act on a terminal, or begin a new line, are
 * shown as escapes in both.
 */
export function renderExplanation(terminal: Terminal, explanation: Explanation, shown: number): string {
  const { headline, timeline, troubles, next } = explanation;
  const width = terminal.width ?? Number.POSITIVE_INFINITY;
  const line = (label: string, text: string): string =>
    label + wrapWords(escapeForTerminal(text), { width, start: label.length, indent: label.length });
  const left = timeline.slice(Math.max(0, timeline.length - shown));
  const hidden = timeline.length - left.length;
  const sections = [
    [line('', headline)],
    left.length === 0
      ? []
      : [
          ...(hidden === 0
            ? []
            : [`  … ${plural(hidden, 'earlier entry', 'earlier entries')}: --limit ${timeline.length}`]),
          ...left.map((moment) => line(label(terminal, moment), moment.text)),
        ],
    troubles.map((trouble) => line('Wrong: ', trouble)),
    next.map(({ text, command }) => line('Next:  ', command === null ? text : `${text}: ${command}`)),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

function label({ isTerminal, io }: Terminal, { at, isTrouble }: Moment): string {
  const atMs = Date.parse(at);
  const time = isTerminal ? pastTime(atMs, io.clock()) : formatInstant(atMs);
  return `  ${time} ${isTrouble ? '!' : ' '} `;
}
