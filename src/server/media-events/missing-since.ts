export type Missing = {
  /** Sid of the missing participant or track at the media server. */
  readonly sid: string;
  readonly roomSid: string;
};

/**
 * Remembers since when something differs from the media server, whose event may still arrive. Only a difference that two
 * comparisons have found, `graceMs` apart, counts as a missed event. In the first comparison after a time in which no event
 * could be received, every difference counts at once.
 */
export class MissingSince {
  readonly #since = new Map<string, { readonly at: number; readonly roomSid: string }>();
  readonly #seen = new Set<string>();
  readonly #counted = new Set<string>();
  #countsAtOnce = true;

  /** Rooms with a difference that did not count yet; they must be compared again. */
  get rooms(): ReadonlySet<string> {
    return new Set([...this.#since.values()].map(({ roomSid }) => roomSid));
  }

  /** Records a difference that cannot count yet, so that its room is compared again. Returns since when it has existed. */
  note({ sid, roomSid }: Missing, now: number): number {
    this.#seen.add(sid);
    const known = this.#since.get(sid) ?? { at: now, roomSid };
    this.#since.set(sid, known);
    return known.at;
  }

  /** Returns whether a difference may count as a missed event in this round: one that is found for the first time does not. */
  mayCount({ sid }: Pick<Missing, 'sid'>): boolean {
    return this.#countsAtOnce || this.#since.has(sid);
  }

  /** Records a difference. Returns whether it counts as a missed event. */
  hasBeenMissing(missing: Missing, now: number, graceMs: number): boolean {
    const counts = now - this.note(missing, now) >= graceMs || this.#countsAtOnce;
    if (counts) this.#counted.add(missing.sid);
    return counts;
  }

  /** Ends a comparison: differences that it did not find are forgotten, and those that counted are known from now on. */
  endRound(): void {
    this.#countsAtOnce = false;
    for (const sid of this.#since.keys()) {
      if (!this.#seen.has(sid) || this.#counted.has(sid)) this.#since.delete(sid);
    }
    this.#seen.clear();
    this.#counted.clear();
  }

  /** Forgets all differences, because another instance compares or has compared. */
  forget(): void {
    this.#countsAtOnce = false;
    this.#since.clear();
    this.#seen.clear();
    this.#counted.clear();
  }

  /** After a time in which events could not be received, every difference that the next comparison finds counts at once. */
  countAtOnce(): void {
    this.forget();
    this.#countsAtOnce = true;
  }
}
