export type Missing = {
  /** Its sid at the media server. */
  readonly sid: string;
  readonly roomSid: string;
};

/**
 * Remembers since when something differs from the media server: its event may still be on its way. Only a difference
 * that two comparisons have found, `graceMs` apart, counts as a missed event. In the first comparison after a time in
 * which no event could be received, every difference counts at once.
 */
export class MissingSince {
  readonly #since = new Map<string, { readonly at: number; readonly roomSid: string }>();
  readonly #seen = new Set<string>();
  #countsAtOnce = true;

  /** Rooms with a difference that did not count yet; they must be compared again. */
  get rooms(): ReadonlySet<string> {
    return new Set([...this.#since.values()].map(({ roomSid }) => roomSid));
  }

  /** Records a difference; true when it counts as a missed event. */
  hasBeenMissing({ sid, roomSid }: Missing, now: number, graceMs: number): boolean {
    this.#seen.add(sid);
    const known = this.#since.get(sid) ?? { at: now, roomSid };
    this.#since.set(sid, known);
    return this.#countsAtOnce || now - known.at >= graceMs;
  }

  /** Ends a comparison: a difference that it did not find has gone. */
  endRound(): void {
    this.#countsAtOnce = false;
    for (const sid of this.#since.keys()) if (!this.#seen.has(sid)) this.#since.delete(sid);
    this.#seen.clear();
  }

  /** Another instance compares, or has compared. */
  forget(): void {
    this.#countsAtOnce = false;
    this.#since.clear();
    this.#seen.clear();
  }

  /** Events could not be received for a while: every difference that the next comparison finds counts at once. */
  countAtOnce(): void {
    this.forget();
    this.#countsAtOnce = true;
  }
}
