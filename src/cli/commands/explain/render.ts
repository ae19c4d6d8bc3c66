import { escapeForTerminal } from '../../terminal/escape-for-terminal.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { formatInstant, pastTime, plural } from '../../terminal/time.ts';
import { wrapWords } from '../../terminal/wrap-text.ts';
import type { Explanation, Moment } from './explanation.ts';

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
