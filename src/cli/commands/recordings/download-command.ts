import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { formatBytes } from '../../../contract/amounts.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { defineCommand, existing, flag, optionalArgument } from '../../framework/parameters.ts';
import { nothing, type Result, text } from '../../terminal/result.ts';
import { createTransferBar } from './transfer-bar.ts';

export const download = defineCommand({
  noun: 'recordings',
  verb: 'download',
  summary: 'Download the file of a recording',
  description:
    'Writes to ID.mp4, unless you name a file or folder; - writes to stdout. Prints the path. To continue a download that broke off, run the same command again.',
  needs: 'service',
  fields: ['file', 'sizeBytes'],
  arguments: {
    id: existing('id of the recording', 'recordings'),
    file: optionalArgument('file or folder to write, or - for stdout', { completes: 'files' }),
  },
  options: {
    force: flag('-f, --force', 'overwrite the file, or write to a terminal'),
    withCaptions: flag('--with-captions', 'add its completed transcripts as subtitles; needs ffmpeg'),
  },
  examples: [
    { line: 'rtc recordings download EG_tH8vdkRoTDWY', does: 'Into EG_tH8vdkRoTDWY.mp4' },
    {
      line: 'rtc recordings download EG_tH8vdkRoTDWY lesson.mp4 --force',
      does: 'Overwrite an existing file',
    },
    { line: 'rtc recordings download EG_tH8vdkRoTDWY --with-captions', does: 'With subtitles in the file' },
    { line: 'rtc recordings download EG_tH8vdkRoTDWY - | ffmpeg -i - lesson.mp3', does: 'Only the sound' },
  ],
  async run(context, { id, file, force, withCaptions }) {
    if (file === '-') {
      if (withCaptions) throw usageError('captions need a file and cannot be added to stdout', 'name a file');
      return await toStdout(context, { id, isForced: force });
    }
    const client = await context.client();
    const { signal } = context.io;
    const { saveFile, chooseTarget } = await import('./save-file.ts');
    // With --curl only the request of the download is printed.
    const known = context.flags.isCurl ? undefined : await client.recordings.get(id, { signal });
    const target = await chooseTarget(context, { id: known?.recordingId ?? id, file, isForced: force });
    const captions = await (withCaptions ? readCaptions(context, id) : undefined);
    const downloaded = await saveFile(context, target, (from) =>
      client.recordings.download(id, { from, signal }),
    );
    const notes = await captions?.add(target.path);
    const sizeBytes = notes === undefined ? downloaded : (await stat(target.path)).size;
    return text(target.path, {
      response: { file: target.path, sizeBytes },
      notes: [formatBytes(sizeBytes), ...(notes ?? [])],
    });
  },
});

/** Checks captions and ffmpeg before the download. `add` returns notes on what was added. */
async function readCaptions(context: Context, id: string) {
  const { addCaptions, readCaptions, requireFfmpeg } = await import('./add-captions.ts');
  if (!context.flags.isCurl) await requireFfmpeg(context.io);
  const captions = await readCaptions(context, id);
  return {
    add: async (path: string): Promise<readonly string[]> => {
      if (captions.length === 0) return ['Nothing was said, so the file has no captions.'];
      await addCaptions(context.io, path, captions);
      return [`Captions: ${captions.map(({ language }) => language).join(', ')}`];
    },
  };
}

type StdoutRequest = { readonly id: string; readonly isForced: boolean };

async function toStdout(context: Context, { id, isForced }: StdoutRequest): Promise<Result> {
  const { io, terminal } = context;
  if (terminal.isTerminal && !isForced) {
    throw usageError(
      'stdout is a terminal, and a recording is not text',
      'name a file, or pipe it somewhere',
    );
  }
  const client = await context.client();
  const { body, sizeBytes } = await client.recordings.download(id, { signal: io.signal });
  const bar = createTransferBar(io, { from: 0, sizeBytes });
  const counted = async function* () {
    let done = 0;
    for await (const chunk of body) {
      done += chunk.length;
      bar.show(done);
      yield chunk;
    }
  };
  let isStdoutBroken = false;
  const noteBroken = (): void => {
    isStdoutBroken = true;
  };
  io.stdout.once('error', noteBroken);
  try {
    await pipeline(Readable.from(counted()), io.stdout, { end: false });
  } catch (error) {
    // main reports a full disk, and ignores a reader that is gone.
    if (!isStdoutBroken) throw error;
  } finally {
    io.stdout.off('error', noteBroken);
    bar.clear();
  }
  return nothing();
}
