/* Checked access to external values, such as parsed JSON and caught errors. */

/** Returns whether a value is an object and not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value of a JSON text; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the members of an object; none when the value is not an object. */
export function readMembers(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** Returns the objects of an array. Other values, and other elements, are left out. */
export function readObjects(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the strings of an array. Other values, and other elements, are left out. */
export function readTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : [];
}

/** Returns the code of an error, such as Node's `ENOENT`; undefined when it has none. */
export function codeOfError(error: unknown): string | undefined {
  const { code } = readMembers(error);
  return typeof code === 'string' ? code : undefined;
}
