export type Person = { readonly identity: string; readonly name?: string | undefined };

/** The identity, and beside it the display name, which guests choose themselves. */
export function showPerson({ identity, name }: Person): string {
  return name === undefined || name === '' || name === identity ? identity : `${identity} (${name})`;
}
