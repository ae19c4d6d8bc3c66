import { asciiOnly, writeBundle } from './output.ts';
import { sharedUndici } from './undici.ts';

/** Native or optional: found at run time, or not. */
const OUTSIDE_THE_SERVICE = [
  /^@livekit\/rtc-node/,
  /^sherpa-onnx/,
  /^pg-native$/,
  /^pg-cloudflare$/,
  /^pino-pretty$/,
];

/** With its packages: a service that loads a dozen files listens in half the time, in three quarters of the memory. */
export function buildServer(out: string): Promise<readonly string[]> {
  return writeBundle(
    {
      input: {
        main: 'src/server/main.ts',
        dev: 'src/server/dev.ts',
        worker: 'src/server/worker.ts',
        'room-audio': 'src/server/room-audio.ts',
        'room-client': 'src/server/room-client.ts',
        stt: 'src/server/stt.ts',
        admin: 'src/server/admin.ts',
      },
      platform: 'node',
      external: OUTSIDE_THE_SERVICE,
      plugins: [sharedUndici(), asciiOnly()],
    },
    { dir: `${out}/server` },
  );
}
