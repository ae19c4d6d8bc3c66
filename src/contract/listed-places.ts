type Period = { readonly validFrom: string | null; readonly validTo: string | null };

/** Returns whether the name was in force on the day. Without dates it may have been. */
export function isInForceOn({ validFrom, validTo }: Period, date: string): boolean {
  return (validFrom === null || validFrom <= date) && (validTo === null || date <= validTo);
}
