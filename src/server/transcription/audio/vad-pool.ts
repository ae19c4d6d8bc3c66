import type { Sherpa, Vad } from '../engines/sherpa.ts';
import { SAMPLE_RATE } from '../engines/speech.ts';
import { WINDOW } from './window-cutter.ts';

export type VadPoolDeps = {
  readonly sherpa: Pick<Sherpa, 'Vad'>;
  /** Silero's legacy model, which cuts more evenly than its successors. */
  readonly modelPath: string;
};

export type VadSettings = {
  /** A pause of this length ends speech. */
  readonly minSilenceSeconds: number;
  /** Shorter sounds are no speech. */
  readonly minSpeechSeconds: number;
  /** In longer speech shorter pauses end speech too. */
  readonly maxSpeechSeconds: number;
};

/** A native detector of the pool. It must not be used after `release`, because another track may have it by then. */
export type PooledVad = { readonly vad: Vad; readonly release: () => void };

/** Initial buffer of a native detector, which grows when needed. */
const BUFFER_SECONDS = 30;

/**
 * Creates a pool that reuses released native detectors. Native memory is freed only by JavaScript's garbage collector, which
 * does not know its size: with a new native detector for each track, the memory of a worker would grow with every call.
 */
export function createVadPool(deps: VadPoolDeps): (settings: VadSettings) => PooledVad {
  const free = new Map<string, Vad[]>();
  return (settings) => {
    const key = JSON.stringify(settings);
    const pool = free.get(key) ?? [];
    free.set(key, pool);
    const vad = pool.pop() ?? createVad(deps, settings);
    const release = (): void => {
      vad.reset();
      pool.push(vad);
    };
    return { vad, release };
  };
}

function createVad({ sherpa, modelPath }: VadPoolDeps, settings: VadSettings): Vad {
  return new sherpa.Vad(
    {
      sileroVad: {
        model: modelPath,
        threshold: 0.5,
        minSilenceDuration: settings.minSilenceSeconds,
        minSpeechDuration: settings.minSpeechSeconds,
        maxSpeechDuration: settings.maxSpeechSeconds,
        windowSize: WINDOW,
      },
      sampleRate: SAMPLE_RATE,
      numThreads: 1,
      debug: 0,
    },
    BUFFER_SECONDS,
  );
}
