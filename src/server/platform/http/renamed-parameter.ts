import { ServiceError } from '../../../contract/errors.ts';

/** Returns the value of a query parameter that has two names, its own and an earlier one. Throws invalid-request for both. */
export function chooseRenamed(
  query: Readonly<Record<string, unknown>>,
  { name, earlier }: { readonly name: string; readonly earlier: string },
): string | undefined {
  const [value, old] = [query[name], query[earlier]];
  if (value !== undefined && old !== undefined) {
    const detail = `must be left out, because it is the earlier name of ${name}`;
    throw new ServiceError('invalid-request', `${earlier} ${detail}.`, {
      errors: [{ parameter: earlier, detail }],
    });
  }
  const chosen = value ?? old;
  return typeof chosen === 'string' ? chosen : undefined;
}
