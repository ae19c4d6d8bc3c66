/*
 * JSON allows numbers of any precision, JSON.parse yields doubles: 12345678901234567890 becomes 12345678901234567000,
 * and 1e400 becomes null. Values that the service only passes on must keep their exact text.
 */

/** Text without a match contains only numbers that a double represents exactly. */
const MAY_CHANGE = /\d{16}|\d[eE]/;

/** ECMAScript 2025 (proposal-json-parse-with-source). The compiler's library has no types for it yet. */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

/**
 * Returns the member `name` of the object in `body`, with its numbers as JSON.rawJSON objects when parsing may have
 * changed them. Use the result only with JSON.stringify. `value` is the member as JSON.parse gave it.
 */
export function exactMember<T>(body: Buffer, name: string, value: T): T {
  if (value === undefined) return value;
  const text = body.toString();
  if (!MAY_CHANGE.test(text)) return value;
  return (parse(text, keepSource) as Readonly<Record<string, T>>)[name] ?? value;
}

function keepSource(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? rawJSON(source) : value;
}
