import { IDEMPOTENCY_KEY_HEADER } from '../../src/contract/idempotency.ts';

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

type ObjectDefinition = {
  readonly name: string;
  readonly description: string | undefined;
  readonly properties: readonly Property[];
};

type AliasDefinition = {
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

/** A program that was generated from the document does not request it. */
const IN_THE_PAGE: ReadonlySet<string> = new Set(['/openapi.json']);
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Reads what both generators need. An object without a name is named after its place, for example `HealthCapabilities`. */
export function readModel(document: Json): Model {
  const reader = new ModelReader(document);
  return reader.read();
}

class ModelReader {
  readonly #document: Json;
  readonly #definitions = new Map<string, Definition>();

  constructor(document: Json) {
    this.#document = document;
  }

  read(): Model {
    const schemas = json(json(this.#document.components).schemas);
    for (const [name, schema] of Object.entries(schemas)) this.#define(name, json(schema));
    const operations = Object.entries(json(this.#document.paths)).flatMap(([path, methods]) =>
      METHODS.flatMap((method) => {
        const operation = json(methods)[method];
        return operation === undefined ? [] : this.#operation({ method, path, operation: json(operation) });
      }),
    );
    return { definitions: [...this.#definitions.values()], operations };
  }

  #define(name: string, schema: Json): void {
    const description = text(schema.description);
    if (schema.properties === undefined) {
      this.#definitions.set(name, { name, description, type: this.#type(schema, name) });
      return;
    }
    // The name is reserved before the properties are read, so that it precedes the names of nested objects.
    this.#definitions.set(name, { name, description, properties: [] });
    this.#definitions.set(name, { name, description, properties: this.#properties(schema, name) });
  }

  #properties(schema: Json, owner: string): readonly Property[] {
    const required = list(schema.required);
    return Object.entries(json(schema.properties)).map(([name, property]) => ({
      name,
      description: text(json(property).description),
      type: this.#type(json(property), owner + capitalise(name)),
      isRequired: required.includes(name),
    }));
  }

  #type(schema: Json, name: string): Type {
    if (typeof schema.$ref === 'string') return { kind: 'name', name: schema.$ref.split('/').at(-1) ?? '' };
    const choices = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(choices)) return this.#union(choices.map(json), name);
    const values = schema.const === undefined ? schema.enum : [schema.const];
    if (Array.isArray(values) && values.includes(null)) {
      const of = this.#type(
        { ...schema, const: undefined, enum: values.filter((value) => value !== null) },
        name,
      );
      return { kind: 'nullable', of };
    }
    if (Array.isArray(values) && values.every((value) => typeof value === 'string'))
      return { kind: 'choice', values };
    return this.#plainType(schema, name);
  }

  #plainType(schema: Json, name: string): Type {
    if (Array.isArray(schema.type)) {
      return this.#union(
        schema.type.map((type) => ({ ...schema, type })),
        name,
      );
    }
    switch (schema.type) {
      case 'string':
      case 'integer':
      case 'number':
      case 'boolean':
        return { kind: schema.type };
      case 'array':
        return { kind: 'array', of: this.#type(json(schema.items), `${name}Item`) };
      case 'object':
        return this.#objectType(schema, name);
      default:
        return { kind: 'unknown' };
    }
  }

  #objectType(schema: Json, name: string): Type {
    if (schema.properties !== undefined) {
      this.#define(name, schema);
      return { kind: 'name', name };
    }
    const values = Object.values(json(schema.patternProperties ?? {}))[0] ?? schema.additionalProperties;
    const of: Type =
      typeof values === 'object' ? this.#type(json(values), `${name}Value`) : { kind: 'unknown' };
    return { kind: 'map', of };
  }

  #union(schemas: readonly Json[], name: string): Type {
    const present = schemas.filter(({ type }) => type !== 'null');
    const types = present.map((schema, at) =>
      this.#type(schema, present.length === 1 ? name : `${name}${at + 1}`),
    );
    const of = joinChoices(types);
    return present.length < schemas.length ? { kind: 'nullable', of } : of;
  }

  #operation({
    method,
    path,
    operation,
  }: {
    method: string;
    path: string;
    operation: Json;
  }): readonly Operation[] {
    if (typeof operation.operationId !== 'string' || IN_THE_PAGE.has(path)) return [];
    const id = operation.operationId;
    const response = this.#response(json(operation.responses), id);
    if (response === 'not JSON') return [];
    const parameters = list(operation.parameters).map((parameter) => this.#resolve(json(parameter)));
    const read = (place: string): readonly Property[] =>
      parameters
        .filter((parameter) => parameter.in === place)
        .map((parameter) => ({
          name: String(parameter.name),
          description: text(parameter.description),
          type: flag(this.#type(json(parameter.schema), capitalise(id) + capitalise(String(parameter.name)))),
          isRequired: parameter.required === true,
        }));
    const query = read('query');
    return [
      {
        id,
        summary: String(operation.summary),
        method: method.toUpperCase(),
        path,
        pathParameters: read('path'),
        query: query.filter(({ name }) => name !== 'format'),
        body: this.#body(operation, id),
        response: response.type,
        items: query.some(({ name }) => name === 'cursor') ? this.#items(response.type) : undefined,
        takesIdempotencyKey: read('header').some(({ name }) => name === IDEMPOTENCY_KEY_HEADER),
        hasTextFormats: query.some(({ name }) => name === 'format'),
      },
    ];
  }

  #body(operation: Json, id: string): Operation['body'] {
    if (operation.requestBody === undefined) return undefined;
    const body = this.#resolve(json(operation.requestBody));
    const schema = json(json(json(body.content)['application/json']).schema);
    return { type: this.#type(schema, `${capitalise(id)}Body`), isRequired: body.required === true };
  }

  #response(responses: Json, id: string): { readonly type: Type | undefined } | 'not JSON' {
    const success = Object.keys(responses).find((status) => status.startsWith('2'));
    if (success === undefined) return 'not JSON';
    const { content } = this.#resolve(json(responses[success]));
    if (content === undefined) return { type: undefined };
    const media = json(content)['application/json'];
    if (media === undefined) return 'not JSON';
    const { schema } = json(media);
    if (schema === undefined) return 'not JSON';
    const name = `${capitalise(id)}Response`;
    const type = this.#type(json(schema), name);
    if (type.kind !== 'union') return { type };
    this.#definitions.set(name, { name, description: text(json(schema).description), type });
    return { type: { kind: 'name', name } };
  }

  #items(page: Type | undefined): Operation['items'] {
    if (page?.kind !== 'name') return undefined;
    const definition = this.#definitions.get(page.name);
    if (definition === undefined || !isObject(definition)) return undefined;
    for (const { name, type } of definition.properties)
      if (type.kind === 'array') return { name, type: type.of };
    return undefined;
  }

  /** Returns the object itself, or the target of its `$ref`. */
  #resolve(value: Json): Json {
    if (typeof value.$ref !== 'string') return value;
    const names = value.$ref.replace('#/', '').split('/');
    return names.reduce((parent: Json, name) => json(parent[name]), this.#document);
  }
}

/** A query consists of texts: for the caller, a choice of `true` and `false` is a boolean. */
function flag(type: Type): Type {
  const isFlag = type.kind === 'choice' && type.values.toSorted().join() === 'false,true';
  return isFlag ? { kind: 'boolean' } : type;
}

/** Joins several choices of texts into one. */
function joinChoices(types: readonly Type[]): Type {
  if (types.length === 1 && types[0] !== undefined) return types[0];
  const values = types.flatMap((type) => (type.kind === 'choice' ? type.values : []));
  const others = types.filter(({ kind }) => kind !== 'choice');
  if (others.length === 0) return { kind: 'choice', values };
  // A choice of texts is left out if any text is allowed.
  const isText = others.length === 1 && others[0]?.kind === 'string';
  return isText ? { kind: 'string' } : { kind: 'union', of: types };
}

function json(value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`The document has ${JSON.stringify(value)} where an object was expected`);
  }
  return { ...value };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
