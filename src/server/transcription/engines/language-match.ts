/** BCP 47: `en` serves `en-GB`, and `en-US` where only another region of its language is there. */
export function matchLanguage(wanted: string, available: readonly string[]): string | undefined {
  const lower = wanted.toLowerCase();
  const primary = lower.split('-')[0];
  return (
    available.find((tag) => tag.toLowerCase() === lower) ??
    available.find((tag) => tag.toLowerCase() === primary) ??
    available.find((tag) => tag.toLowerCase().split('-')[0] === primary)
  );
}
