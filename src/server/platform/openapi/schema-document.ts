import type { TSchema } from 'typebox';
import { FORMAT_PATTERNS } from '../../../contract/format-patterns.ts';
import { isObject, membersOf, objectsOf, textsOf } from '../../../contract/unknown-value.ts';

/*
 * Converts TypeBox schemas for OpenAPI 3.1. They are JSON Schema already, but a schema with an `$id` becomes a
 * component, and other schemas refer to it.
 */

export type JsonObject = { readonly [key: string]: unknown };
export type Components = Map<string, JsonObject>;

/** Returns the schema with its named parts moved to `components`. */
export function toReference(schema: TSchema, components: Components): JsonObject {
  return membersOf(referTo(schema, components));
}

function referTo(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item) => referTo(item, components));
  if (!isObject(value)) return value;
  const { $id: id, ...rest } = value;
  const converted = Object.fromEntries(
    Object.entries(rest).map(([key, part]) => [key, referTo(part, components)]),
  );
  const schema = withDiscriminator(withNullType(withKnownFormat(withType(converted))), components);
  if (typeof id !== 'string') return schema;
  if (!components.has(id)) components.set(id, { title: titleOf(id), ...schema });
  return { $ref: `#/components/schemas/${id}` };
}

/** Replaces our own formats, which other programs do not know, by a pattern and a description. */
function withKnownFormat({ format, ...schema }: JsonObject): JsonObject {
  if (format === 'date-time' || format === 'binary') return { ...schema, format };
  const pattern = FORMAT_PATTERNS[String(format)];
  return pattern === undefined ? schema : { ...schema, pattern };
}

/**
 * Converts `{anyOf: [{type: 'string'}, {type: 'null'}]}` to `{type: ['string', 'null']}`, which generators of clients handle
 * better.
 */
function withNullType({ anyOf, ...outer }: JsonObject): JsonObject {
  if (!Array.isArray(anyOf)) return outer;
  const [schema, second, ...others]: readonly JsonObject[] = anyOf;
  const isNullable = second?.type === 'null' && others.length === 0;
  const canBeNull =
    typeof schema?.type === 'string' && schema.enum === undefined && schema.const === undefined;
  if (!isNullable || !canBeNull) return { ...outer, anyOf };
  return { ...schema, ...outer, type: [schema.type, 'null'] };
}

/** Adds a discriminator: the schema by the value of the property that distinguishes the members. */
function withDiscriminator(schema: JsonObject, components: Components): JsonObject {
  const { anyOf, discriminator, ...rest } = schema;
  if (!isDiscriminator(discriminator) || !Array.isArray(anyOf)) return schema;
  const references = objectsOf(anyOf).map(({ $ref }) => String($ref));
  const mapping = references.flatMap((reference) => {
    const member = components.get(reference.split('/').at(-1) ?? '');
    return namesOf(member, discriminator.propertyName).map((name) => [name, reference]);
  });
  return {
    ...rest,
    oneOf: anyOf,
    discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) },
  };
}

function isDiscriminator(value: unknown): value is { readonly propertyName: string } {
  return typeof value === 'object' && value !== null && 'propertyName' in value;
}

function namesOf(member: JsonObject | undefined, property: string): readonly string[] {
  const { enum: names } = membersOf(membersOf(member?.properties)[property]);
  return Array.isArray(names) ? names.map(String) : [];
}

/** Adds a type to enums and constants. TypeBox gives them none, and generators of clients then accept any value. */
function withType(schema: JsonObject): JsonObject {
  const values: readonly unknown[] = Array.isArray(schema.enum) ? schema.enum : [schema.const];
  const areTexts = values.every((value) => typeof value === 'string');
  return areTexts && schema.type === undefined ? { type: 'string', ...schema } : schema;
}

/** Converts a name such as `RecordingList` to `Recording list`. */
function titleOf(id: string): string {
  return id.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Builds an example value from the examples in the schema. */
export function exampleOf(schema: TSchema): unknown {
  return buildExample(membersOf(schema));
}

function buildExample(schema: JsonObject): unknown {
  const [example]: readonly unknown[] = Array.isArray(schema.examples) ? schema.examples : [];
  if (example !== undefined) return example;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.anyOf)) return buildExample(membersOf(schema.anyOf[0]));
  return exampleOfType(schema);
}

function exampleOfType(schema: JsonObject): unknown {
  switch (schema.type) {
    case 'object':
      return exampleOfObject(schema);
    case 'array':
      return [buildExample(membersOf(schema.items))];
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return '';
  }
}

/** Leaves out optional texts without an example, because an empty text is rarely valid. */
function exampleOfObject({ properties = {}, required = [] }: JsonObject): JsonObject {
  const parts = Object.entries(membersOf(properties)).map(([name, part]) => [name, membersOf(part)] as const);
  const isShown = ([name, part]: readonly [string, JsonObject]): boolean =>
    textsOf(required).includes(name) || buildExample(part) !== '';
  return Object.fromEntries(parts.filter(isShown).map(([name, part]) => [name, buildExample(part)]));
}
