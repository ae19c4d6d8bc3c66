import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { findRecorderProgram } from '../../../src/server/dev/add-ons/recorder.ts';
import type { Livekit } from './livekit.ts';
import type { Redis } from './redis.ts';
import { freePort, runPart, untilReady } from './run-part.ts';

export type EgressOptions = {
  /** The Redis of the media server. */
  readonly redis: Pick<Redis, 'address'>;
  readonly livekit: Pick<Livekit, 'url' | 'apiKey' | 'apiSecret'>;
};

export type EgressWorker = { readonly output: () => string; readonly close: () => Promise<void> };

/** Whether LiveKit's own recorder is a program of this machine. */
export async function isEgressInstalled(): Promise<boolean> {
  return await findRecorderProgram(process.env).then(
    ({ kind }) => kind === 'program',
    () => false,
  );
}

/** Starts LiveKit's own recorder. Rejects if it is not a program of this machine. */
export async function startEgress({ redis, livekit }: EgressOptions): Promise<EgressWorker> {
  const program = await findRecorderProgram(process.env);
  if (program.kind !== 'program') throw new Error('the recorder is an image, and the test needs a program');
  const folder = await mkdtemp(join(tmpdir(), 'rtc-egress-'));
  const healthPort = await freePort();
  const config = {
    api_key: livekit.apiKey,
    api_secret: livekit.apiSecret,
    ws_url: livekit.url,
    redis: { address: redis.address },
    health_port: healthPort,
    template_port: await freePort(),
    // Otherwise it accepts no recording on two cores, and few at once.
    cpu_cost: { room_composite_cpu_cost: 0.1, audio_room_composite_cpu_cost: 0.1 },
  };
  const part = runPart({
    name: 'egress',
    program: program.path,
    args: [],
    cwd: folder,
    env: {
      ...process.env,
      // It starts itself again for each recording, by its name on PATH.
      PATH: [dirname(program.path), process.env.PATH].join(delimiter),
      TMPDIR: folder,
      EGRESS_CONFIG_BODY: JSON.stringify(config),
    },
    stopSignal: 'SIGINT',
  });
  const close = async (): Promise<void> => {
    await part.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const isReady = async () => (await fetch(`http://127.0.0.1:${healthPort}/`)).ok;
    await untilReady(part, 'egress', { isReady });
  } catch (cause) {
    await close();
    throw cause;
  }
  return { output: part.output, close };
}
