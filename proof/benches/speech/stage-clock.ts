import { readMembers } from '../../../src/contract/unknown-value.ts';

/** The stages of a sentence between the speaker's mouth and the reader's terminal. */
export const STAGES = ['capture', 'detector', 'model', 'store', 'wake', 'print'] as const;
export type Stage = (typeof STAGES)[number];

/** Milliseconds of one utterance in each stage, and whether it was recognised before its pause was over. */
export type Passage = Readonly<Record<Stage, number>> & {
  readonly stored: number;
  readonly total: number;
  readonly isEarly: boolean;
};

type Spoken = {
  /** When its last sound left the speaker, and when that sound arrived at a listener. */
  readonly endedAt: number;
  readonly heardAt: number;
  /** Ids of its segments. */
  readonly ids: readonly string[];
};

type Recognised = { readonly at: number; readonly detectedAt: number; readonly isEarly: boolean };

/** Collects when each segment passed each stage, from the worker's log and from readers. Times are Unix milliseconds. */
export class StageClock {
  readonly #recognised = new Map<string, Recognised>();
  readonly #stored = new Map<string, number>();
  readonly #read = new Map<string, number>();
  readonly #printed = new Map<string, number>();

  /** Reads a line of the worker's log. */
  logged(line: string): void {
    const { msg, time, segmentId, waitedMs, isEarly, ids } = readMembers(JSON.parse(line));
    if (typeof time !== 'string') return;
    const at = Date.parse(time);
    if (msg === 'recognised a segment' && typeof segmentId === 'string') {
      const detectedAt = at - Number(waitedMs);
      this.#recognised.set(segmentId, { at, detectedAt, isEarly: isEarly === true });
    }
    if (msg === 'stored segments' && Array.isArray(ids)) {
      for (const id of ids) this.#stored.set(String(id), at);
    }
  }

  read(segmentId: string): void {
    this.#read.set(segmentId, Date.now());
  }

  printed(segmentId: string): void {
    this.#printed.set(segmentId, Date.now());
  }

  /** Returns nothing if the time of a stage is not known. If there are several segments, the last one counts. */
  findPassage({ endedAt, heardAt, ids }: Spoken): readonly Passage[] {
    const passages = ids.flatMap((id) => {
      const [recognised, stored] = [this.#recognised.get(id), this.#stored.get(id)];
      const [read, printed] = [this.#read.get(id), this.#printed.get(id)];
      if (recognised === undefined || stored === undefined || read === undefined || printed === undefined)
        return [];
      return {
        capture: heardAt - endedAt,
        detector: recognised.detectedAt - heardAt,
        model: recognised.at - recognised.detectedAt,
        store: stored - recognised.at,
        wake: read - stored,
        print: printed - read,
        stored: stored - endedAt,
        total: printed - endedAt,
        isEarly: recognised.isEarly,
      };
    });
    return passages.toSorted((one, other) => other.total - one.total).slice(0, 1);
  }
}
