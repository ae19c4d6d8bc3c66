/** An OpenAPI document as the generators of the clients need it: named objects, aliases, and operations. */

export type Json = { readonly [key: string]: unknown };

export type Type =
  | { readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'unknown' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly of: Type }
  | { readonly kind: 'nullable'; readonly of: Type }
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  | { readonly kind: 'name'; readonly name: string };

export type Property = {
  /** As on the wire. */
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

/** A named schema: an object with properties, or another name for a type. */
export type Definition = ObjectDefinition | AliasDefinition;

export type Operation = {
  /** Such as `listRooms`. */
  readonly id: string;
  readonly summary: string;
  readonly method: string;
  /** Such as `/v1/rooms/{roomId}`. */
  readonly path: string;
  readonly pathParameters: readonly Property[];
  readonly query: readonly Property[];
  readonly body: { readonly type: Type; readonly isRequired: boolean } | undefined;
  /** The JSON of a successful response; undefined where it has no content. */
  readonly response: Type | undefined;
  /** The property of a page that holds its items, where the operation takes a cursor. */
  readonly items: { readonly name: string; readonly type: Type } | undefined;
  /** Whether the caller may choose the key under which the request is done once. */
  readonly takesIdempotencyKey: boolean;
  /** Whether `format` chooses between JSON and texts. */
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

/** Lines of at most 118 columns, each with the indent in front. */
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
