import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import Format, { IsDateTime } from 'typebox/format';
import { Settings } from 'typebox/system';
import { blockDurationFault } from '../../../contract/blocks.ts';
import { streamUrlFault } from '../../../contract/broadcasts.ts';
import { type FieldError, ServiceError } from '../../../contract/errors.ts';
import { metadataFault, nameFault, roomNameFault } from '../../../contract/names.ts';
import { isObject, readMembers, readTexts } from '../../../contract/unknown-value.ts';
import { termFault } from '../../../contract/vocabulary.ts';
import { webhookPutSecretFault, webhookSecretFault, webhookUrlFault } from '../../../contract/webhooks.ts';

/** Maximum invalid fields that an error lists, which limits the response to a hostile body. Further ones are counted. */
export const MAX_LISTED_ERRORS = 100;

const MAX_POINTER_LENGTH = 300;

type Place = 'body' | 'query' | 'params';

/** The requirement that a field breaks, by its JSON Schema keyword. */
export type Violation = Pick<SchemaError, 'keyword' | 'params'>;

/** The cause of an invalid request, for code that formulates its errors in another language. */
export class SchemaViolations {
  /** The first error of each parameter or member, by its name. */
  readonly fields: ReadonlyMap<string, Violation>;

  constructor(fields: ReadonlyMap<string, Violation>) {
    this.fields = fields;
  }
}

/** Returns the value, with integers of a query converted. Throws invalid-request, which names every invalid field. */
export type Validate = (value: unknown) => unknown;

export function compileValidator(schema: TSchema, place: Place): Validate {
  setUpValidator();
  const validator = Compile(schema);
  const limited = listLimitedProperties(schema);
  const prepare = (value: unknown): unknown => {
    if (place === 'query') return convertQuery(schema, value);
    return place === 'body' ? withoutNulls(schema, value) : value;
  };
  return (value) => {
    const given = prepare(value);
    const { errors, rest } = separateLongValues(limited, given);
    if (errors.length === 0 && validator.Check(given)) return given;
    throw invalidRequest(place, [...errors, ...(validator.Errors(rest) as readonly SchemaError[])], given);
  };
}

/** Returns the reason why a text does not have the format, or undefined. */
const FORMAT_ERRORS: Readonly<Record<string, (text: string) => string | undefined>> = {
  'block-duration': blockDurationFault,
  'livekit-name': nameFault,
  'livekit-room': roomNameFault,
  term: termFault,
  'livekit-metadata': metadataFault,
  'stream-url': streamUrlFault,
  'webhook-url': webhookUrlFault,
  'webhook-secret': webhookSecretFault,
  'webhook-put-secret': webhookPutSecretFault,
};

/** TypeBox keeps these settings per process. Setting them again changes nothing. */
function setUpValidator(): void {
  // TypeBox stops at eight errors by default, and then may not name a single field.
  Settings.Set({ maxErrors: Number.MAX_SAFE_INTEGER });
  for (const [format, errorOf] of Object.entries(FORMAT_ERRORS)) {
    Format.Set(format, (text) => errorOf(text) === undefined);
  }
  Format.Set('date-time', isInstant);
}

/** `Date` cannot parse leap seconds (RFC 3339) and zones in brackets (RFC 9557). */
function isInstant(text: string): boolean {
  return IsDateTime(text) && !Number.isNaN(Date.parse(text));
}

const INTEGER = /^(?:\d|-[1-9])\d{0,14}$/;

/** Converts decimal digits to integers where the schema requires one. "1e2", "" and " 5" stay text and are rejected. */
function convertQuery(schema: TSchema, value: unknown): unknown {
  const parameters = Object.entries(readMembers(value));
  if (parameters.length === 0) return {};
  return Object.fromEntries(
    parameters.map(([name, text]) => {
      const isInteger = typeOfProperty(schema, name) === 'integer';
      return [name, isInteger && typeof text === 'string' && INTEGER.test(text) ? Number(text) : text];
    }),
  );
}

function invalidRequest(place: Place, schemaErrors: readonly SchemaError[], value: unknown): ServiceError {
  const byPath = new Map<string, string>();
  const violations = new Map<string, Violation>();
  let unlisted = 0;
  for (const error of schemaErrors) {
    unlisted += unlistedNames(error);
    for (const [path, detail] of describeError(error, value)) {
      const name = unescapePointer(path.slice(1));
      if (!violations.has(name)) violations.set(name, error);
      // The error of a format is the most precise one: it counts bytes, for example, and not characters.
      if (!byPath.has(path) || error.keyword === 'format') byPath.set(path, detail);
    }
  }
  const errors = [...byPath]
    .slice(0, MAX_LISTED_ERRORS)
    .map(([path, detail]) => fieldError(place, path, detail));
  const count = byPath.size + unlisted;
  const isTruncated = count > errors.length;
  return new ServiceError('invalid-request', summary(place, errors, count), {
    errors,
    cause: new SchemaViolations(violations),
    ...(isTruncated ? { extensions: { errorsTruncated: true } } : {}),
  });
}

function summary(place: Place, errors: readonly FieldError[], count: number): string {
  const [first] = errors;
  if (first === undefined) return `The ${place} is not valid.`;
  const where =
    'pointer' in first
      ? first.pointer === '#'
        ? 'The body'
        : first.pointer
      : `Parameter ${first.parameter}`;
  return `${where} ${first.detail}${count > 1 ? `, and ${count - 1} more; see errors` : ''}.`;
}

function fieldError(place: Place, path: string, detail: string): FieldError {
  if (place !== 'body')
    return { parameter: unescapePointer(path.slice(1)).slice(0, MAX_POINTER_LENGTH), detail };
  return { pointer: encodePointer(path), detail };
}

/** Writes a JSON pointer as the fragment of a URL. What does not fit is left out by whole characters and escapes. */
export function encodePointer(path: string): string {
  let fragment = '#';
  for (const [part] of path
    .slice(0, MAX_POINTER_LENGTH)
    .toWellFormed()
    .matchAll(/~[01]|./gsu)) {
    const encoded = part === '/' ? part : encodeURIComponent(part);
    if (fragment.length + encoded.length > MAX_POINTER_LENGTH) break;
    fragment += encoded;
  }
  return fragment;
}

function* describeError(
  error: SchemaError,
  value: unknown,
): Generator<readonly [path: string, detail: string]> {
  const { keyword, instancePath: path, params } = error;
  // TypeBox reports unknown and misnamed members twice: by themselves and by their parent.
  if (keyword === 'boolean' || error.schemaPath.endsWith('/propertyNames')) return;
  if (keyword === 'propertyNames') {
    for (const name of readTexts(params.propertyNames)) {
      yield [`${path}/${escapePointer(name)}`, `has a key that ${nameFault(name) ?? 'is not taken here'}`];
    }
    return;
  }
  if (keyword === 'additionalProperties') {
    for (const name of unknownNames(error).slice(0, MAX_LISTED_ERRORS)) {
      yield [`${path}/${escapePointer(name)}`, 'is not known here'];
    }
    return;
  }
  if (keyword === 'required') {
    for (const name of readTexts(params.requiredProperties)) {
      yield [`${path}/${escapePointer(name)}`, 'is required'];
    }
    return;
  }
  yield [path, describeValueError(error, value)];
}

/** Number of unknown members that are only counted: describing tens of thousands of them takes most of the time. */
function unlistedNames(error: SchemaError): number {
  return Math.max(0, unknownNames(error).length - MAX_LISTED_ERRORS);
}

function unknownNames({ keyword, params }: SchemaError): readonly string[] {
  return keyword === 'additionalProperties' ? readTexts(params.additionalProperties) : [];
}

function describeValueError({ keyword, params, message, instancePath }: SchemaError, value: unknown): string {
  if (keyword === 'enum') return `must be one of ${readTexts(params.allowedValues).join(', ')}`;
  if (keyword === 'type') return `must be of type ${params.type}`;
  if (keyword === 'minimum') return `must be at least ${params.limit}`;
  if (keyword === 'maximum') return `must be at most ${params.limit}`;
  if (keyword === 'minLength' && params.limit === 1) return 'must not be empty';
  if (keyword === 'minLength') return `must have at least ${params.limit} characters`;
  if (keyword === 'format' && params.format === 'date-time') return 'must be an ISO 8601 instant';
  if (keyword === 'format') {
    return FORMAT_ERRORS[String(params.format)]?.(String(valueAt(value, instancePath))) ?? message;
  }
  return message;
}

function valueAt(value: unknown, path: string): unknown {
  return path
    .split('/')
    .slice(1)
    .reduce<unknown>((at, part) => readChild(at, unescapePointer(part)), value);
}

/** Arrays are indexed by their positions. */
function readChild(value: unknown, key: string): unknown {
  return Array.isArray(value) ? value[Number(key)] : readMembers(value)[key];
}

/** The part of a validation error that is used here. */
type SchemaError = {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
};

/* Preparation of the top-level fields of a value for the validator. */

type Property = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly anyOf?: readonly Property[];
};

type ObjectSchema = {
  readonly properties?: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
};

/** Returns the type of a property as its schema names it; undefined for a property that the schema does not have. */
function typeOfProperty(schema: TSchema, name: string): string | undefined {
  return findProperty(schema, name)?.type;
}

/** Removes nulls of optional fields, which count as absent, unless the field's schema allows null. */
function withoutNulls(schema: TSchema, value: unknown): unknown {
  if (!isObject(value) || !Object.values(value).includes(null)) return value;
  const { required = [] }: ObjectSchema = schema;
  const isAbsent = ([name, field]: readonly [string, unknown]): boolean => {
    if (field !== null || required.includes(name)) return false;
    const property = findProperty(schema, name);
    return property !== undefined && !takesNull(property);
  };
  return Object.fromEntries(Object.entries(value).filter((entry) => !isAbsent(entry)));
}

type LimitedProperty = readonly [name: string, property: Property];

function listLimitedProperties({ properties = {} }: ObjectSchema): readonly LimitedProperty[] {
  return Object.entries(properties).filter(
    ([, { maxItems, maxProperties }]) => maxItems !== undefined || maxProperties !== undefined,
  );
}

/**
 * Returns the errors of lists and maps with more entries than allowed, and the rest of the value. The validator must not get
 * these: its time grows with the square of a list's repetitions, up to minutes for a body of the allowed size.
 */
function separateLongValues(
  limited: readonly LimitedProperty[],
  value: unknown,
): { readonly errors: readonly SchemaError[]; readonly rest: unknown } {
  if (!isObject(value)) return { errors: [], rest: value };
  const errors = limited.flatMap(([name, property]) => {
    const error = lengthError(property, value[name]);
    return error === undefined ? [] : [{ ...error, instancePath: `/${escapePointer(name)}` }];
  });
  if (errors.length === 0) return { errors, rest: value };
  const long = new Set(errors.map(({ instancePath }) => instancePath));
  const rest = Object.entries(value).filter(([name]) => !long.has(`/${escapePointer(name)}`));
  return { errors, rest: Object.fromEntries(rest) };
}

function lengthError(property: Property, field: unknown): SchemaError | undefined {
  const { maxItems = Number.POSITIVE_INFINITY, maxProperties = Number.POSITIVE_INFINITY } = property;
  const error = { schemaPath: '#', instancePath: '', params: {} };
  if (Array.isArray(field)) {
    if (field.length <= maxItems) return undefined;
    return { ...error, keyword: 'maxItems', message: `must not have more than ${maxItems} items` };
  }
  if (!isObject(field) || Object.keys(field).length <= maxProperties) return undefined;
  const message = `must not have more than ${maxProperties} properties`;
  return { ...error, keyword: 'maxProperties', message };
}

function findProperty({ properties = {} }: ObjectSchema, name: string): Property | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Returns whether the property allows null. A schema without a type allows any value. */
function takesNull({ type, enum: values, anyOf }: Property): boolean {
  if (values !== undefined) return values.includes(null);
  if (anyOf !== undefined) return anyOf.some(takesNull);
  return type === undefined || type === 'null';
}

/* Escapes a part of a JSON pointer (RFC 6901). */

export function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
