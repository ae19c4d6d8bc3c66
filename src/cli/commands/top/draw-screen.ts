import { clockTime } from '../../terminal/time.ts';
import { fitText, plot } from './draw-text.ts';
import { rowsOf, type Section } from './sections.ts';
import type { TopState } from './state.ts';
import type { Drawing, View } from './view.ts';

const LEAST_COLUMNS = 40;
const LEAST_ROWS = 10;
/** Minimum rows for the list of events. */
const ROWS_FOR_EVENTS = 34;

/** Returns the lines of the whole screen. */
export function drawScreen(state: TopState, view: View, drawing: Drawing): readonly string[] {
  const { columns, rows, glyphs } = drawing;
  if (columns < LEAST_COLUMNS || rows < LEAST_ROWS) {
    return [fitText(`too small: ${LEAST_COLUMNS}x${LEAST_ROWS} at least`, columns, glyphs)];
  }
  const body = rows - 4;
  const hasEvents = rows >= ROWS_FOR_EVENTS;
  const heights = share(body, hasEvents ? [3, 3, 3, 2] : [2, 2, 2]);
  const sections = rowsOf(state, view, drawing);
  const lists: readonly Section[] = [
    sections.rooms,
    sections.people,
    sections.deliveries,
    ...(hasEvents ? [sections.events] : []),
  ];
  return [
    ...head(state, drawing),
    ...lists.flatMap((section, index) => drawSection(section, heights[index] ?? 0, drawing)),
    ...foot(state, view, drawing),
  ];
}

/** Divides rows in proportion; the remainder goes to the first. */
function share(rows: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const shares = weights.map((weight) => Math.floor((rows * weight) / sum));
  const left = rows - shares.reduce((total, each) => total + each, 0);
  return shares.map((each, index) => (index === 0 ? each + left : each));
}

function head(state: TopState, { columns, palette, glyphs, nowMs, title }: Drawing): readonly string[] {
  const time = clockTime(nowMs);
  const people = state.rooms.reduce((sum, room) => sum + room.people.length, 0);
  const recordings = state.rooms.filter(({ isRecording }) => isRecording).length;
  const transcribed = state.rooms.filter(({ isTranscribed }) => isTranscribed).length;
  const failed = state.deliveries.filter(({ delivery }) => delivery.status === 'failed').length;
  const counts = [
    `rooms ${state.rooms.length}`,
    `people ${people}`,
    `recording ${recordings}`,
    `transcribing ${transcribed}`,
    `failed ${failed}`,
  ].join('  ');
  const graph = Math.max(10, Math.min(60, columns - counts.length - 9));
  const summary = fitText(`${counts}  events ${plot(state.activity, graph, glyphs)}`, columns, glyphs);
  return [
    `${palette.heading(fitText(title, columns - time.length - 1, glyphs))} ${time}`,
    failed > 0 ? palette.bad(summary) : summary,
  ];
}

function drawSection(
  { title, isFocused, head: heading, rows, selected }: Section,
  height: number,
  drawing: Drawing,
) {
  const { columns, palette, glyphs } = drawing;
  const label = `${isFocused ? '>' : ' '} ${title}`;
  const first = isFocused
    ? palette.heading(fitText(label, columns, glyphs))
    : palette.faint(fitText(label, columns, glyphs));
  const space = height - 2;
  // Keeps the selection visible.
  const from = Math.max(0, Math.min(selected - Math.floor(space / 2), rows.length - space));
  const lines = rows.slice(from, from + Math.max(0, space)).map(({ text, paint }, index) => {
    const isSelected = from + index === selected;
    const mark = isFocused ? '>' : '-';
    const line = fitText(`${isSelected ? mark : ' '} ${text}`, columns, glyphs);
    if (isSelected && isFocused) return palette.heading(palette.name(line));
    return paint === undefined ? line : palette[paint](line);
  });
  const all = [first, palette.faint(fitText(`  ${heading}`, columns, glyphs)), ...lines];
  const blank = Array.from({ length: Math.max(0, height - all.length) }, () => '');
  return [...all, ...blank].slice(0, height);
}

const KEYS = 'Tab ↑↓  m mute  x remove  r record  s stop  p replay  o open  q quit';
const READING_KEYS = 'Tab ↑↓  o open  q quit    --read-only';

function foot(state: TopState, { message }: View, { columns, palette, glyphs, isReadOnly }: Drawing) {
  const trouble = state.trouble === undefined ? undefined : `waiting for the service: ${state.trouble}`;
  const text = message?.text ?? trouble ?? '';
  const paint = message?.paint ?? 'warning';
  const keys = isReadOnly ? READING_KEYS : KEYS;
  const line = text === '' ? '' : palette[paint](fitText(text, columns, glyphs));
  const plain = glyphs.more === '~' ? keys.replace('↑↓', 'j/k') : keys;
  return [line, palette.faint(fitText(plain, columns, glyphs))];
}
