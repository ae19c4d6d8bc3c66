import { join } from 'node:path';
import { runFfmpeg } from '../../test/support/parts/ffmpeg.ts';
import { speechRecordings } from '../../test/support/parts/speech-model.ts';

/** An MP4 file in which somebody reads for 44 s, as a recorder would have written it. Returns its path. */
export async function makeSpokenRecording(folder: string): Promise<string> {
  const path = join(folder, 'spoken.mp4');
  await runFfmpeg(['-i', speechRecordings().twoCities.path, '-c:a', 'aac', '-b:a', '96k', '-y', path]);
  return path;
}
