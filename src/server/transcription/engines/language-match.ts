/** Finds the BCP 47 tag that serves a language: `en` serves `en-GB`, and so does `en-US` when there is no closer tag. */
export function matchLanguage(wanted: string, available: readonly string[]): string | undefined {
  const lower = wanted.toLowerCase();
  const primary = lower.split('-')[0];
  return (
    available.find((tag) => tag.toLowerCase() === lower) ??
    available.find((tag) => tag.toLowerCase() === primary) ??
    available.find((tag) => tag.toLowerCase().split('-')[0] === primary)
  );
}
