import { TRANSCRIPT_FORMATS, type TranscriptFormat } from '../../../contract/choices.ts';
import type { Context } from '../../framework/context.ts';
import { choice, option, optionalListArgument } from '../../framework/parameters.ts';
import { splitPair } from '../../framework/plan-options.ts';
import { nothing, type Result, text } from '../../terminal/result.ts';
import { pastMoment } from '../../terminal/time.ts';

export const LANGUAGE = option('--language <tag>', 'spoken language (BCP 47), or auto; default en-US');

export const FORMAT = option(
  '--format <format>',
  'print the transcript in this format',
  choice(TRANSCRIPT_FORMATS),
);

export const SINCE = option(
  '--since <when>',
  'only segments that ended after this: 10m, 2h, or an instant',
  pastMoment,
);

export const SPEAKERS = optionalListArgument('speakers as KEY=NAME; the key is a track id or an identity');

/** Like parseSpeakers, but an empty name (`ada=`) removes the existing one. */
export function parseSpeakerChanges(pairs: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, name] = splitPair(pair);
      return [key, name === '' ? null : name];
    }),
  );
}

/** Reads the transcript in the format, for stdout unchanged. */
export async function readTranscript(
  context: Context,
  id: string,
  format: TranscriptFormat,
): Promise<Result> {
  const client = await context.client();
  const { signal } = context.io;
  if (format !== 'json') return transcriptText(await client.transcriptions.text(id, format, { signal }));
  const response = await client.transcriptions.get(id, { signal });
  return text(JSON.stringify(response), { response });
}

/** A transcript without segments prints nothing, instead of an empty line. */
export function transcriptText(transcript: string): Result {
  return transcript === '' ? nothing() : text(transcript);
}
