import { join } from 'node:path';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';

/** Makes an MP4 file of 44 s of read speech, as a recorder would write it. Returns its path. */
export async function makeSpokenRecording(folder: string): Promise<string> {
  const path = join(folder, 'spoken.mp4');
  await runFfmpeg(['-i', speechRecordings().twoCities.path, '-c:a', 'aac', '-b:a', '96k', '-y', path]);
  return path;
}
