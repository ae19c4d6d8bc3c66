import { TRANSCRIPT_FORMATS, type TranscriptFormat } from '../../../contract/choices.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { pastMoment } from '../../framework/moments.ts';
import { choice, notEmpty, option, optionalListArgument } from '../../framework/parameters.ts';
import { nothing, type Result, text } from '../../terminal/result.ts';

export const LANGUAGE = option('--language <tag>', 'spoken language (BCP 47), or auto; default en-US', {
  parse: notEmpty,
});

export const FORMAT = option(
  '--format <format>',
  'print the transcript in this format',
  choice(TRANSCRIPT_FORMATS),
);

export const SINCE = option('--since <when>', 'only segments that ended after this: 10m, 2h, or an instant', {
  parse: pastMoment,
});

export const SPEAKERS = optionalListArgument('speakers as KEY=NAME; the key is a track id or an identity');

/** Parses `ada=Ada`; the key ends at the first `=`. */
export function parseSpeakers(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(pairs.map(parsePair));
}

/** Like parseSpeakers, but an empty name (`ada=`) removes the existing one. */
export function parseSpeakerChanges(pairs: readonly string[]): Record<string, string | null> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, name] = splitPair(pair);
      return [key, name === '' ? null : name];
    }),
  );
}

function parsePair(pair: string): readonly [key: string, name: string] {
  const [key, name] = splitPair(pair);
  if (name === '') throw usageError(`the speaker ${JSON.stringify(key)} has no name`, `such as ${key}=Ada`);
  return [key, name];
}

function splitPair(pair: string): readonly [key: string, name: string] {
  const mark = pair.indexOf('=');
  if (mark > 0) return [pair.slice(0, mark), pair.slice(mark + 1)];
  throw usageError(`${JSON.stringify(pair)} is not KEY=NAME`, 'such as ada=Ada, or TR_AMDuaW8eDvbDmz=Ada');
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
