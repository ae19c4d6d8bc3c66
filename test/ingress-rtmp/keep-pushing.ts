import { setTimeout } from 'node:timers/promises';
import { startFfmpeg } from '../support/parts/ffmpeg.ts';

export type Push = { readonly output: () => string; readonly close: () => Promise<void> };

/**
 * Pushes until it is closed. The ingress service refuses a push while it thinks that its machine is too busy; this repeats
 * the push, as a camera does.
 */
export function keepPushing(url: string): Push {
  let isClosed = false;
  let current = startFfmpeg(pushArguments(url));
  const run = async (): Promise<void> => {
    while (!isClosed) {
      await current.exited;
      // The service measures the load once a second.
      await setTimeout(1000);
      if (!isClosed) current = startFfmpeg(pushArguments(url));
    }
  };
  const running = run();
  return {
    output: () => current.output(),
    close: async () => {
      isClosed = true;
      await current.close();
      await running;
    },
  };
}

/**
 * Returns ffmpeg's arguments for a moving test picture and a tone, like those of a small camera: H.264 and AAC in real
 * time.
 */
export function pushArguments(url: string): readonly string[] {
  return [
    ...['-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=15'],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p', '-g', '15'],
    ...['-c:a', 'aac', '-b:a', '96k', '-t', '120', '-f', 'flv', url],
  ];
}
