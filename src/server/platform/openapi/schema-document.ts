import type { TSchema } from 'typebox';
import { isObject, readMembers, readObjects, readTexts } from '../../../contract/unknown-value.ts';
import recorded from './examples.json' with { type: 'json' };

/*
 * Converts TypeBox schemas for OpenAPI 3.1. They are JSON Schema already, but a schema with an `$id` becomes a
 * component, and other schemas refer to it.
 */

export type JsonObject = { readonly [key: string]: unknown };

export type Components = Map<string, JsonObject>;

/** Returns the schema with its named parts moved to `components`. */
export function toReference(schema: TSchema, components: Components): JsonObject {
  return readMembers(referTo(schema, components));
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
  if (!components.has(id)) components.set(id, { title: toTitle(id), ...schema });
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
  const references = readObjects(anyOf).map(({ $ref }) => String($ref));
  const mapping = references.flatMap((reference) => {
    const member = components.get(reference.split('/').at(-1) ?? '');
    return readNames(member, discriminator.propertyName).map((name) => [name, reference]);
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

function readNames(member: JsonObject | undefined, property: string): readonly string[] {
  const { enum: names } = readMembers(readMembers(member?.properties)[property]);
  return Array.isArray(names) ? names.map(String) : [];
}

/** Adds a type to enums and constants. TypeBox gives them none, and generators of clients then accept any value. */
function withType(schema: JsonObject): JsonObject {
  const values: readonly unknown[] = Array.isArray(schema.enum) ? schema.enum : [schema.const];
  const areTexts = values.every((value) => typeof value === 'string');
  return areTexts && schema.type === undefined ? { type: 'string', ...schema } : schema;
}

/** Converts a name such as `RecordingList` to `Recording list`. */
function toTitle(id: string): string {
  return id.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Builds an example value from the examples in the schema. */
export function createExample(schema: TSchema): unknown {
  return buildExample(readMembers(schema));
}

function buildExample(schema: JsonObject): unknown {
  const [example]: readonly unknown[] = Array.isArray(schema.examples) ? schema.examples : [];
  if (example !== undefined) return example;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.anyOf)) return buildExample(readMembers(schema.anyOf[0]));
  return exampleOfType(schema);
}

function exampleOfType(schema: JsonObject): unknown {
  switch (schema.type) {
    case 'object':
      return exampleOfObject(schema);
    case 'array':
      return [buildExample(readMembers(schema.items))];
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
  const parts = Object.entries(readMembers(properties)).map(
    ([name, part]) => [name, readMembers(part)] as const,
  );
  const isShown = ([name, part]: readonly [string, JsonObject]): boolean =>
    readTexts(required).includes(name) || buildExample(part) !== '';
  return Object.fromEntries(parts.filter(isShown).map(([name, part]) => [name, buildExample(part)]));
}

/*
 * The examples of the document: exchanges that test/server/platform/openapi/examples.test.ts records and compares, so that
 * they are always current.
 */

type RecordedOperation = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
};

const OPERATIONS: Readonly<Record<string, RecordedOperation>> = recorded.operations;

const PROBLEMS: Readonly<Record<string, object>> = recorded.problems;

const DELIVERIES: Readonly<Record<string, object>> = recorded.deliveries;

export function recordedOperation(operationId: string): RecordedOperation | undefined {
  return OPERATIONS[operationId];
}

export function recordedProblem(code: string): object | undefined {
  return PROBLEMS[code];
}

export function recordedDelivery(event: string): Readonly<Record<string, unknown>> | undefined {
  const delivery = DELIVERIES[event];
  return delivery === undefined ? undefined : { ...delivery };
}

/*
 * Regular expressions for the service's own string formats, for the OpenAPI document: with them readers of the document,
 * such as generators of clients, know texts that the service rejects. The service itself checks the complete format and
 * describes the error. `\x` is the escape that ECMA-262, Python, Java, .NET and RE2 (Go) have in common.
 */

/** Unicode's category Cc. */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';

const NO_CONTROL_CHARACTERS = `^[^${CONTROL}]*$`;

/**
 * Patterns by format. A pattern accepts every text that its format accepts, and a few more, such as texts of too many bytes.
 */
export const FORMAT_PATTERNS: Readonly<Record<string, string>> = {
  'block-duration': '^(?:forever|[1-9][0-9]{0,8})$',
  'livekit-name': NO_CONTROL_CHARACTERS,
  'livekit-room': NO_CONTROL_CHARACTERS,
  term: NO_CONTROL_CHARACTERS,
  'stream-url': '^(?:rtmps?|srt)://[!-~]+$',
  'webhook-url': `^[Hh][Tt][Tt][Pp][Ss]?://[^\\s${CONTROL}\\\\]+$`,
};
