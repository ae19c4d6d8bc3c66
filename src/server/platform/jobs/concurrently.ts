/**
 * Runs `work` for every item, at most `limit` at a time. After an error no further item is started. Rejects with the first
 * error when all started items have ended.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  const rest = items.values();
  const workUntilError = async (): Promise<void> => {
    for (const item of rest) {
      if (errors.length > 0) return;
      await work(item).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, workUntilError));
  if (errors.length > 0) throw errors[0];
}

/** Splits items into parts whose weights add up to `most` at most; a heavier item is a part of its own. */
export function splitByWeight<Item>(
  items: readonly Item[],
  weigh: (item: Item) => number,
  most: number,
): readonly (readonly Item[])[] {
  const parts: Item[][] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (const item of items) {
    taken += weigh(item);
    if (taken > most) {
      parts.push([]);
      taken = weigh(item);
    }
    parts.at(-1)?.push(item);
  }
  return parts;
}
