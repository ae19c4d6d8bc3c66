import planted from './planted-faults.json' with { type: 'json' };

/** A change of the source that breaks a protocol. */
export type PlantedFault = {
  readonly protocol: keyof typeof planted;
  readonly name: string;
  readonly file: string;
  /** A text that the file contains once. */
  readonly text: string;
  readonly replacement: string;
  /** Whether a short search finds it. */
  readonly needsFewMoves?: boolean;
};

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...planted.recordings.map((fault) => ({ protocol: 'recordings' as const, ...fault })),
  ...planted.deliveries.map((fault) => ({ protocol: 'deliveries' as const, ...fault })),
];
