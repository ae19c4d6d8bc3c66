import type { TranscriptFormat } from '../../../contract/choices.ts';
import type { Context } from '../../framework/context.ts';
import { nothing, type Result, text } from '../../terminal/result.ts';

/** The transcript in the format, for stdout as it is. */
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

/** A transcript without segments has no line, rather than an empty one. */
export function transcriptText(transcript: string): Result {
  return transcript === '' ? nothing() : text(transcript);
}
