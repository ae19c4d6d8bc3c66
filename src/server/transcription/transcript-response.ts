import type { TranscriptFormat } from '../../contract/choices.ts';
import type { Segment } from '../../contract/transcription.ts';
import type { RouteResponse } from '../platform/http/route.ts';
import { toMarkdown, toSrt, toText, toVtt } from './transcript-text.ts';

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

export function transcriptResponse(
  body: { readonly segments: readonly Segment[] },
  format: TranscriptFormat | undefined,
): RouteResponse {
  if (format === undefined || format === 'json') return { status: 200, body };
  const headers = { 'content-type': CONTENT_TYPES[format] };
  return { status: 200, body: WRITERS[format](body.segments.filter(({ final }) => final)), headers };
}
