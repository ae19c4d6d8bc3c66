import type { Segment } from '../../contract/transcription.ts';

/*
 * A transcript as text. Segments are lines here, so what a speaker's name or a recogniser's text has of line breaks
 * becomes blanks: it must not make lines or cues of its own.
 *   text  [HH:MM:SS] Speaker: text
 *   vtt   WebVTT (https://www.w3.org/TR/webvtt1/), speakers as voice spans
 *   srt   SubRip, as players read it: a number, times with a comma, `Speaker: text`
 */

type Spoken = Pick<Segment, 'speaker' | 'text' | 'start' | 'end'>;

export function toText(segments: readonly Spoken[]): string {
  return segments.map((segment) => `[${clock(segment.start).slice(0, -4)}] ${spoken(segment)}\n`).join('');
}

export function toVtt(segments: readonly Spoken[]): string {
  const cues = segments.map((segment) => {
    const text = escapeVtt(oneLine(segment.text));
    const voice = segment.speaker === null ? '' : `<v ${escapeVtt(oneLine(segment.speaker))}>`;
    return `\n${times(segment, '.')}\n${voice}${text}\n`;
  });
  return `WEBVTT\n${cues.join('')}`;
}

export function toSrt(segments: readonly Spoken[]): string {
  return segments
    .map((segment, index) => `${index + 1}\n${times(segment, ',')}\n${spoken(segment)}\n`)
    .join('\n');
}

function spoken({ speaker, text }: Spoken): string {
  return speaker === null ? oneLine(text) : `${oneLine(speaker)}: ${oneLine(text)}`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

/** Section 3.3 of WebVTT: `&`, `<` and, so that no text is an arrow, `>`. */
function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A cue must end after it starts. */
function times({ start, end }: Spoken, mark: '.' | ','): string {
  const [from, to] = [clock(start), clock(Math.max(end, start + 0.001))];
  return `${from} --> ${to}`.replaceAll('.', mark);
}

/** HH:MM:SS.mmm; hours take as many digits as they need. */
function clock(seconds: number): string {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const part = (value: number, digits: number): string => String(value).padStart(digits, '0');
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  return `${part(h, 2)}:${part(m, 2)}:${part(s, 2)}.${part(ms % 1000, 3)}`;
}
