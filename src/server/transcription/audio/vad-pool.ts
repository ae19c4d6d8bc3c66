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

/** A native detector. Its borrower must not touch it after giving it back: another track may use it by then. */
export type BorrowedVad = { readonly vad: Vad; readonly giveBack: () => void };

/** The buffer of a native detector grows when it has to. */
const BUFFER_SECONDS = 30;

/**
 * Lends native detectors, and reuses those that were given back. Native memory is freed only when JavaScript's garbage
 * collector runs, which knows nothing of its size: with a new native detector for each track, the memory of a worker
 * would grow with every call.
 */
export function createVadPool(deps: VadPoolDeps): (settings: VadSettings) => BorrowedVad {
  const free = new Map<string, Vad[]>();
  return (settings) => {
    const key = JSON.stringify(settings);
    const pool = free.get(key) ?? [];
    free.set(key, pool);
    const vad = pool.pop() ?? createVad(deps, settings);
    const giveBack = (): void => {
      vad.reset();
      pool.push(vad);
    };
    return { vad, giveBack };
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
