import { MOST_SEGMENTS, type Segment, type TranscriptionQuery } from '../../contract/transcription.ts';
import type { RouteResponse } from '../platform/http/route.ts';

const CONTENT_TYPES = {
  text: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
} as const;

const EXAMPLE = [{ speaker: 'Ada', text: 'Good morning.', start: 1.5, end: 2.75 }];

/** Examples of the text formats, for the API's description. */
export const TRANSCRIPT_TEXTS = {
  'text/plain': toText(EXAMPLE),
  'text/markdown': toMarkdown(EXAMPLE),
  'text/vtt': toVtt(EXAMPLE),
  'application/x-subrip': toSrt(EXAMPLE),
} as const;

const WRITERS = { text: toText, md: toMarkdown, vtt: toVtt, srt: toSrt } as const;

/** Header of the text formats, which have no other place for it. */
const NEXT_CURSOR = 'x-next-cursor';

export const TRANSCRIPT_HEADERS = {
  [NEXT_CURSOR]: 'Of a text format: the cursor of the next segments, if there may be more',
} as const;

export function transcriptResponse(
  body: { readonly segments: readonly Segment[]; readonly nextCursor: string | null },
  { format, limit = MOST_SEGMENTS }: Pick<TranscriptionQuery, 'format' | 'limit'>,
): RouteResponse {
  if (format === undefined || format === 'json') return { status: 200, body };
  const finals = body.segments.filter(({ final }) => final);
  const hasMore = finals.length >= limit && body.nextCursor !== null;
  const headers = {
    'content-type': CONTENT_TYPES[format],
    ...(hasMore ? { [NEXT_CURSOR]: body.nextCursor } : {}),
  };
  return { status: 200, body: WRITERS[format](finals), headers };
}

/*
 * Writes a transcript as text. Each segment is a line or a cue, so line breaks in names and texts become spaces: they
 * must not create further lines or cues.
 * [overlap] follows the text when somebody else spoke at the same time.
 *   text  [HH:MM:SS] Speaker: text
 *   md    Markdown, a paragraph for each turn: **[HH:MM:SS] Speaker:** text
 *   vtt   WebVTT (https://www.w3.org/TR/webvtt1/), speakers as voice spans
 *   srt   SubRip, as players read it: a number, times with a comma, `Speaker: text` without markup
 */

type TranscriptLine = Pick<Segment, 'speaker' | 'text' | 'start' | 'end' | 'overlap'>;

function toText(segments: readonly TranscriptLine[]): string {
  return segments
    .map((segment) => `[${formatClock(segment.start).slice(0, -4)}] ${formatLine(segment)}\n`)
    .join('');
}

/** Segments of a speaker that follow each other are one paragraph. */
function toMarkdown(segments: readonly TranscriptLine[]): string {
  const turns: { readonly head: string; readonly speaker: string | null; readonly texts: string[] }[] = [];
  for (const segment of segments) {
    const { speaker, start } = segment;
    const last = turns.at(-1);
    const text = escapeMarkdown(spokenText(segment));
    if (last !== undefined && last.speaker === speaker && speaker !== null) {
      last.texts.push(text);
      continue;
    }
    const name = speaker === null ? '' : ` ${escapeMarkdown(oneLine(speaker))}:`;
    turns.push({ head: `**[${formatClock(start).slice(0, -4)}]${name}**`, speaker, texts: [text] });
  }
  return turns.map(({ head, texts }) => `${head} ${texts.join(' ')}\n`).join('\n');
}

function toVtt(segments: readonly TranscriptLine[]): string {
  const cues = segments.map((segment) => {
    const text = escapeVtt(spokenText(segment));
    const voice = segment.speaker === null ? '' : `<v ${escapeVtt(oneLine(segment.speaker))}>`;
    return `\n${formatTimes(segment, '.')}\n${voice}${text}\n`;
  });
  return `WEBVTT\n${cues.join('')}`;
}

function toSrt(segments: readonly TranscriptLine[]): string {
  return segments
    .map(
      (segment, index) => `${index + 1}\n${formatTimes(segment, ',')}\n${escapeSrt(formatLine(segment))}\n`,
    )
    .join('\n');
}

function formatLine(line: TranscriptLine): string {
  const text = spokenText(line);
  return line.speaker === null ? text : `${oneLine(line.speaker)}: ${text}`;
}

function spokenText({ text, overlap }: TranscriptLine): string {
  return overlap === true ? `${oneLine(text)} [overlap]` : oneLine(text);
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

/** Escapes `&` and `<` (WebVTT, section 3.3), and `>`, so that no text contains an arrow. */
function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * SubRip has no escapes. Players take what looks like a tag (`<b>`, `<Ada>`) or an override (`{\\an8}`) as formatting, and
 * show nothing of it. A word joiner after the bracket is invisible and makes it text.
 */
function escapeSrt(text: string): string {
  return text.replace(/[<{](?=\S)/g, '$&\u2060');
}

/** Escapes what has a meaning within a paragraph of CommonMark, HTML included (https://spec.commonmark.org/). */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>&~|#!]/g, '\\$&');
}

/** A cue must end after it starts. */
function formatTimes({ start, end }: TranscriptLine, mark: '.' | ','): string {
  const [from, to] = [formatClock(start), formatClock(Math.max(end, start + 0.001))];
  return `${from} --> ${to}`.replaceAll('.', mark);
}

/** Formats HH:MM:SS.mmm; hours have two digits or more. */
function formatClock(seconds: number): string {
  const ms = Math.max(0, Math.round(seconds * 1000));
  const part = (value: number, digits: number): string => String(value).padStart(digits, '0');
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  return `${part(h, 2)}:${part(m, 2)}:${part(s, 2)}.${part(ms % 1000, 3)}`;
}
