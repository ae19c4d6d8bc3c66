/* Filters of lists of places, which server and command line apply equally. */

type Period = { readonly validFrom: string | null; readonly validTo: string | null };

/** Whether the name was in force on the day. Without dates it may have been. */
export function isInForceOn({ validFrom, validTo }: Period, date: string): boolean {
  return (validFrom === null || validFrom <= date) && (validTo === null || date <= validTo);
}

/** Whether the name begins with the text, ignoring case, accents, spaces and apostrophes. */
export function beginsWith(name: string, typed: string): boolean {
  return letters(name).startsWith(letters(typed));
}

function letters(name: string): string {
  return name
    .normalize('NFD')
    .toUpperCase()
    .replace(/[^A-Z]/g, '');
}
