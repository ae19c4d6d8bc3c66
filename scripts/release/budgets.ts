import { stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** Maximum size of each download, in megabytes. If a release exceeds one, find out why before you raise the number. */
const BUDGETS: readonly (readonly [name: RegExp, megabytes: number])[] = [
  [/^rtc-service-fiscal-[\d.]+\.tgz$/, 0.5],
  [/^rtc-service-client-[\d.]+\.tgz$/, 0.2],
  [/^rtc-service-[\d.]+\.tgz$/, 5],
  [/^rtc-[\d.]+-linux-(x64|arm64)\.tar\.gz$/, 60],
];

export type Size = { readonly name: string; readonly megabytes: number; readonly budget: number | undefined };

/** Returns the sizes of the files, with the budgets of those that have one. Throws if a file exceeds its budget. */
export async function checkSizes(paths: readonly string[]): Promise<readonly Size[]> {
  const sizes = await Promise.all(
    paths.map(async (path): Promise<Size> => {
      const name = basename(path);
      const { size } = await stat(path);
      return {
        name,
        megabytes: size / 1_000_000,
        budget: BUDGETS.find(([pattern]) => pattern.test(name))?.[1],
      };
    }),
  );
  const beyond = sizes.filter(({ megabytes, budget }) => budget !== undefined && megabytes > budget);
  if (beyond.length === 0) return sizes;
  throw new Error(
    beyond
      .map(({ name, megabytes, budget }) => `${name} has ${megabytes.toFixed(2)} MB, and may have ${budget}`)
      .join('\n'),
  );
}
