import type { TSchema } from 'typebox';
import { isObject } from '../../../../contract/unknown-value.ts';
import { escapePointer } from '../json-pointer.ts';

/* Checks of the top-level fields of a value that run before the validator. */

/** The part of a validation error that is used here. */
export type SchemaError = {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
};

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
export function typeOfProperty(schema: TSchema, name: string): string | undefined {
  return propertyOf(schema, name)?.type;
}

/** Removes nulls of optional fields, which count as absent, unless the field's schema allows null. */
export function withoutNulls(schema: TSchema, value: unknown): unknown {
  if (!isObject(value) || !Object.values(value).includes(null)) return value;
  const { required = [] }: ObjectSchema = schema;
  const isAbsent = ([name, field]: readonly [string, unknown]): boolean => {
    if (field !== null || required.includes(name)) return false;
    const property = propertyOf(schema, name);
    return property !== undefined && !takesNull(property);
  };
  return Object.fromEntries(Object.entries(value).filter((entry) => !isAbsent(entry)));
}

/**
 * Reports lists and maps with more entries than allowed, and removes them from the validated value: the validator's time
 * grows with the square of a list's repetitions, up to minutes for a body of the allowed size.
 */
export function setLongValuesAside(
  schema: TSchema,
  value: unknown,
): { readonly errors: readonly SchemaError[]; readonly rest: unknown } {
  if (!isObject(value)) return { errors: [], rest: value };
  const errors = Object.entries(value).flatMap(([name, field]) => {
    const error = lengthError(propertyOf(schema, name), field);
    return error === undefined ? [] : [{ ...error, instancePath: `/${escapePointer(name)}` }];
  });
  if (errors.length === 0) return { errors, rest: value };
  const long = new Set(errors.map(({ instancePath }) => instancePath));
  const rest = Object.entries(value).filter(([name]) => !long.has(`/${escapePointer(name)}`));
  return { errors, rest: Object.fromEntries(rest) };
}

function lengthError(property: Property | undefined, field: unknown): SchemaError | undefined {
  const { maxItems = Number.POSITIVE_INFINITY, maxProperties = Number.POSITIVE_INFINITY } = property ?? {};
  const error = { schemaPath: '#', instancePath: '', params: {} };
  if (Array.isArray(field)) {
    if (field.length <= maxItems) return undefined;
    return { ...error, keyword: 'maxItems', message: `must not have more than ${maxItems} items` };
  }
  if (!isObject(field) || Object.keys(field).length <= maxProperties) return undefined;
  const message = `must not have more than ${maxProperties} properties`;
  return { ...error, keyword: 'maxProperties', message };
}

function propertyOf({ properties = {} }: ObjectSchema, name: string): Property | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Whether the property allows null. A schema without a type allows any value. */
function takesNull({ type, enum: values, anyOf }: Property): boolean {
  if (values !== undefined) return values.includes(null);
  if (anyOf !== undefined) return anyOf.some(takesNull);
  return type === undefined || type === 'null';
}
