import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import Format, { IsDateTime } from 'typebox/format';
import { Settings } from 'typebox/system';
import { type FieldError, ServiceError } from '../../../contract/errors.ts';
import { metadataFault, nameFault } from '../../../contract/names.ts';
import { webhookSecretFault, webhookUrlFault } from '../../../contract/webhooks.ts';

/** More bad fields than this are counted, not listed: a hostile body must not write its own answer. */
const MAX_LISTED_ERRORS = 50;
const MAX_POINTER_LENGTH = 300;

export type Place = 'body' | 'query' | 'params';

/** Throws invalid-request, naming every bad field; answers the value, query text converted to its schema's types. */
export type Validate = (value: unknown) => unknown;

export function compileValidator(schema: TSchema, place: Place): Validate {
  setUpValidator();
  const validator = Compile(schema);
  return (value) => {
    const given = place === 'query' ? convertQuery(schema, value) : value;
    const { faults, rest } = setLongListsAside(schema, given);
    if (faults.length === 0 && validator.Check(given)) return given;
    throw invalidRequest(place, [...faults, ...(validator.Errors(rest) as readonly SchemaError[])], given);
  };
}

/** Why a text of the format is refused; undefined when it is not. */
const FORMAT_FAULTS: Readonly<Record<string, (text: string) => string | undefined>> = {
  'livekit-name': nameFault,
  'livekit-metadata': metadataFault,
  'webhook-url': webhookUrlFault,
  'webhook-secret': webhookSecretFault,
};

/** Settings of the validator are the whole process's; making them again changes nothing. */
function setUpValidator(): void {
  // By default it stops at eight faults, and then may not name a single field.
  Settings.Set({ maxErrors: Number.MAX_SAFE_INTEGER });
  for (const [format, faultOf] of Object.entries(FORMAT_FAULTS)) {
    Format.Set(format, (text) => faultOf(text) === undefined);
  }
  Format.Set('date-time', isInstant);
}

/** RFC 3339 also has leap seconds, and RFC 9557 a zone in brackets, of which `Date` makes no instant. */
function isInstant(text: string): boolean {
  return IsDateTime(text) && !Number.isNaN(Date.parse(text));
}

type SchemaError = {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
};

/**
 * A list with more entries than it may have is told of and not looked into: the validator takes time with the square
 * of its repetitions, minutes for a body of the size that is allowed.
 */
function setLongListsAside(
  schema: TSchema,
  value: unknown,
): { readonly faults: readonly SchemaError[]; readonly rest: unknown } {
  if (typeof value !== 'object' || value === null) return { faults: [], rest: value };
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { maxItems?: number }>> };
  const isLong = ([name, entry]: readonly [string, unknown]): boolean =>
    Array.isArray(entry) &&
    Object.hasOwn(properties, name) &&
    entry.length > (properties[name]?.maxItems ?? Number.POSITIVE_INFINITY);
  const long = Object.entries(value).filter(isLong);
  if (long.length === 0) return { faults: [], rest: value };
  const faults = long.map(([name]) => ({
    keyword: 'maxItems',
    schemaPath: '#',
    instancePath: `/${escapePointer(name)}`,
    params: {},
    message: `must not have more than ${properties[name]?.maxItems} items`,
  }));
  return { faults, rest: Object.fromEntries(Object.entries(value).filter((entry) => !isLong(entry))) };
}

/** Query values arrive as text; only exact decimal integers count as integers ("1e2", "" and " 5" do not). */
function convertQuery(schema: TSchema, value: unknown): unknown {
  const properties =
    (schema as { properties?: Readonly<Record<string, { type?: string }>> }).properties ?? {};
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).map(([name, text]) => {
      const isInteger = Object.hasOwn(properties, name) && properties[name]?.type === 'integer';
      return [name, isInteger && typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text];
    }),
  );
}

function invalidRequest(place: Place, faults: readonly SchemaError[], value: unknown): ServiceError {
  const byPath = new Map<string, string>();
  for (const fault of faults) {
    for (const [path, detail] of describeFault(fault, value)) {
      // A format knows best what is wrong with a text: its length, say, in bytes and not in characters.
      if (!byPath.has(path) || fault.keyword === 'format') byPath.set(path, detail);
    }
  }
  const errors = [...byPath]
    .slice(0, MAX_LISTED_ERRORS)
    .map(([path, detail]) => fieldError(place, path, detail));
  return new ServiceError('invalid-request', summary(place, errors, byPath.size), { errors });
}

/** Of one field of a body, by its JSON pointer. */
export function bodyFault(path: string, detail: string): ServiceError {
  const errors = [fieldError('body', path, detail)];
  return new ServiceError('invalid-request', summary('body', errors, 1), { errors });
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
  const fragment = path.split('/').map(encodePointerPart).join('/');
  return { pointer: `#${fragment.slice(0, MAX_POINTER_LENGTH)}`, detail };
}

function encodePointerPart(part: string): string {
  return encodeURIComponent(part.toWellFormed());
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

function* describeFault(
  fault: SchemaError,
  value: unknown,
): Generator<readonly [path: string, detail: string]> {
  const { keyword, instancePath: path, params } = fault;
  // Unknown and misnamed members are reported twice: once by themselves, once by their parent.
  if (keyword === 'boolean' || fault.schemaPath.endsWith('/propertyNames')) return;
  if (keyword === 'propertyNames') {
    for (const name of params.propertyNames as readonly string[]) {
      yield [`${path}/${escapePointer(name)}`, `has a key that ${nameFault(name) ?? 'is not taken here'}`];
    }
    return;
  }
  if (keyword === 'additionalProperties') {
    for (const name of params.additionalProperties as readonly string[]) {
      yield [`${path}/${escapePointer(name)}`, 'is not known here'];
    }
    return;
  }
  if (keyword === 'required') {
    for (const name of params.requiredProperties as readonly string[]) {
      yield [`${path}/${escapePointer(name)}`, 'is required'];
    }
    return;
  }
  yield [path, describeValueFault(fault, value)];
}

function describeValueFault({ keyword, params, message, instancePath }: SchemaError, value: unknown): string {
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as readonly string[]).join(', ')}`;
  if (keyword === 'type') return `must be of type ${params.type}`;
  if (keyword === 'minLength') return 'must not be empty';
  if (keyword === 'format' && params.format === 'date-time') return 'must be an ISO 8601 instant';
  if (keyword === 'format') {
    return FORMAT_FAULTS[String(params.format)]?.(String(valueAt(value, instancePath))) ?? message;
  }
  return message;
}

function valueAt(value: unknown, path: string): unknown {
  return path
    .split('/')
    .slice(1)
    .reduce<unknown>((at, part) => (at as Readonly<Record<string, unknown>>)[unescapePointer(part)], value);
}
