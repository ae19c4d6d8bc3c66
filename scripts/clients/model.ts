/** The parts of an OpenAPI document that the client generators need: named objects, aliases, and operations. */

export type Json = { readonly [key: string]: unknown };

export type Type =
  | { readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'unknown' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly of: Type }
  | { readonly kind: 'nullable'; readonly of: Type }
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  | { readonly kind: 'name'; readonly name: string };

export type Property = {
  /** The name on the wire. */
  readonly name: string;
  readonly description: string | undefined;
  readonly type: Type;
  readonly isRequired: boolean;
};

export type ObjectDefinition = {
  readonly name: string;
  readonly description: string | undefined;
  readonly properties: readonly Property[];
};
export type AliasDefinition = {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: Type;
};

/** A named schema: an object with properties, or an alias of a type. */
export type Definition = ObjectDefinition | AliasDefinition;

export type Operation = {
  /** For example `listRooms`. */
  readonly id: string;
  readonly summary: string;
  readonly method: string;
  /** For example `/v1/rooms/{roomId}`. */
  readonly path: string;
  readonly pathParameters: readonly Property[];
  readonly query: readonly Property[];
  readonly body: { readonly type: Type; readonly isRequired: boolean } | undefined;
  /** JSON of a successful response; undefined if it has no content. */
  readonly response: Type | undefined;
  /** The property of a page that holds its items, if the operation takes a cursor. */
  readonly items: { readonly name: string; readonly type: Type } | undefined;
  /** Whether the caller may send an Idempotency-Key. */
  readonly takesIdempotencyKey: boolean;
  /** Whether the parameter `format` selects between JSON and text formats. */
  readonly hasTextFormats: boolean;
};

export type Model = {
  readonly definitions: readonly Definition[];
  readonly operations: readonly Operation[];
};

export function isObject(definition: Definition): definition is ObjectDefinition {
  return 'properties' in definition;
}

/** `roomId` becomes `RoomId`. */
export function capitalise(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Wraps text into lines of at most 118 columns, including the indent. */
export function wrap(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.replaceAll(/\s+/g, ' ').trim().split(' ')) {
    if (line !== '' && indent.length + line.length + word.length + 1 > 118) {
      lines.push(indent + line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
