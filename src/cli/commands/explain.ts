import { plural } from '../../contract/amounts.ts';
import {
  EXPLANATION_FIELDS,
  type Explanation,
  type Moment,
  SUBJECT_KINDS,
  type SubjectKind,
} from '../../explain/explanation.ts';
import { explainSubject } from '../../explain/subjects.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { argument, choice, defineCommand, ofNoun, option, wholeNumber } from '../framework/parameters.ts';
import { text } from '../terminal/result.ts';
import { escapeForTerminal, type Terminal } from '../terminal/terminal.ts';
import { formatInstant, pastTime } from '../terminal/time.ts';
import { wrapWords } from '../terminal/wrap-text.ts';

/** Moments that are shown by default; they fit a screen with the rest of the explanation. */
const SHOWN_MOMENTS = 30;

const explain = defineCommand({
  summary: 'Explain what happened to a room, recording, delivery or request',
  description:
    'Prints one timeline of events, deliveries, recordings and requests, the present state, and what to do next. It changes nothing. EG_… or rec_… is a recording, RM_… a session, dlv_… a delivery, and the id that an error names is a request; anything else is a room.',
  fields: EXPLANATION_FIELDS,
  arguments: { subject: argument('room, or id of a recording, delivery or request', { completes: 'rooms' }) },
  options: {
    as: option(
      '--as <kind>',
      'kind of the subject, if its name looks like another kind',
      choice(SUBJECT_KINDS),
    ),
    limit: option(
      '--limit <n>',
      `number of latest entries to show; default ${SHOWN_MOMENTS}`,
      wholeNumber(1, 100_000),
    ),
  },
  examples: [
    { line: 'rtc explain demo', does: 'What happened in the room since it was opened, and how it is' },
    { line: 'rtc explain EG_tH8vdkRoTDWY', does: 'Why a recording failed, or where its file is' },
    { line: 'rtc explain dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C', does: 'Why a webhook did not get an event' },
    {
      line: 'rtc explain 6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51',
      does: 'The request that an error named',
    },
  ],
  async run(context, { subject, as, limit }) {
    const kind = as ?? findKind(subject);
    const reading = { client: await context.readOnlyClient(), signal: context.io.signal };
    const explanation = await explainSubject(reading, { kind, id: subject }, context.io.clock());
    if ('missing' in explanation) throw new CliError(EXIT.notFound, explanation.missing, explanation.next);
    return text(renderExplanation(context.terminal, explanation, limit ?? SHOWN_MOMENTS), {
      response: explanation,
    });
  },
});

export const commands = ofNoun('explain', [explain]);

/** Recognises the kind by the form of the id. A room may have any name. */
function findKind(subject: string): SubjectKind {
  if (/^(EG|rec)_[\w-]+$/.test(subject)) return 'recording';
  if (/^RM_[\w-]+$/.test(subject)) return 'session';
  if (/^dlv_[\w-]+$/.test(subject)) return 'delivery';
  const isUuid = /^(urn:uuid:)?[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(subject);
  return isUuid ? 'request' : 'room';
}

/**
 * Formats the explanation as text: the state, the events, and at the end, which a terminal shows, errors and what to do.
 * Elsewhere nothing is wrapped, and times are RFC 3339. Characters that would act on a terminal, or begin a new line, are
 * shown as escapes in both.
 */
function renderExplanation(terminal: Terminal, explanation: Explanation, shown: number): string {
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
