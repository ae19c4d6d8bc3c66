import { ServiceError } from '../../../contract/errors.ts';

/*
 * JSON knows numbers of any length, JSON.parse only doubles: 12345678901234567890 comes out as 12345678901234567000,
 * and 1e400 as null. What is only handed on must not change on its way.
 */

/** Without one of these a double keeps a number's value. */
const MAY_CHANGE = /\d{16}|\d[eE]/;

/** What ECMAScript has of it since 2025 (proposal-json-parse-with-source), and the compiler's library not yet. */
const { parse, rawJSON } = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
};

/**
 * The member `name` of the object in `body`, which has been parsed as `value` already: where that may have changed
 * numbers, with all of them as JSON.stringify is to write them. Only for writing: they are no numbers any more.
 * Throws invalid-request where the nesting is deeper than the stack.
 */
export function exactMember<T>(body: Buffer, name: string, value: T): T {
  if (value === undefined) return value;
  const text = body.toString();
  if (!MAY_CHANGE.test(text)) return value;
  try {
    return (parse(text, keepSource) as Readonly<Record<string, T>>)[name] ?? value;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const detail = 'is nested too deeply';
    throw new ServiceError('invalid-request', `#/${name} ${detail}.`, {
      cause: error,
      errors: [{ pointer: `#/${name}`, detail }],
    });
  }
}

function keepSource(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined ? rawJSON(source) : value;
}
