import { type RunningPart, runPart } from './run-part.ts';

/** Starts ffmpeg with these arguments. It runs until its input ends or it is closed. */
export function startFfmpeg(args: readonly string[]): RunningPart {
  const quiet = ['-hide_banner', '-loglevel', 'warning', '-nostdin'];
  // At SIGINT, ffmpeg finishes the file and ends its streams in order.
  return runPart({ name: 'ffmpeg', program: 'ffmpeg', args: [...quiet, ...args], stopSignal: 'SIGTERM' });
}

/** Runs ffmpeg to its end. @throws Error with its output if it fails. */
export async function runFfmpeg(args: readonly string[]): Promise<void> {
  const ffmpeg = startFfmpeg(args);
  const status = await ffmpeg.exited;
  if (status !== 0) throw new Error(`ffmpeg failed with status ${status}:\n${ffmpeg.output()}`);
}
