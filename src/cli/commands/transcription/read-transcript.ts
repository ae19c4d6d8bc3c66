import type { TranscriptFormat } from '../../../contract/choices.ts';
import type { Context } from '../../framework/context.ts';
import { nothing, type Result, text } from '../../terminal/result.ts';

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
