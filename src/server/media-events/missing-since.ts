/**
 * Since when something is missing at the media server, by its sid: what is missing may have ended this moment, with
 * the event of it still under way. Only what is missing in two looks, `graceMs` apart, counts as missed; but at the
 * first look after the start, when nobody listened before it.
 */
export class MissingSince {
  readonly #since = new Map<string, number>();
  readonly #seen = new Set<string>();
  #isFirst = true;

  /** Whether there is something to look at again soon. */
  get isWaiting(): boolean {
    return this.#since.size > 0;
  }

  /** Of something that is missing now. */
  hasBeenMissing(sid: string, now: number, graceMs: number): boolean {
    this.#seen.add(sid);
    const since = this.#since.get(sid) ?? now;
    this.#since.set(sid, since);
    return this.#isFirst || now - since >= graceMs;
  }

  /** The look is over: what was not missing in it is not missing any more. */
  endRound(): void {
    this.#isFirst = false;
    for (const sid of this.#since.keys()) if (!this.#seen.has(sid)) this.#since.delete(sid);
    this.#seen.clear();
  }
}
