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

/** Reports lists and maps with more entries than allowed, and returns the value without them. */
export type SetLongValuesAside = (value: unknown) => {
  readonly errors: readonly SchemaError[];
  readonly rest: unknown;
};

/**
 * Creates the function for a schema. The validator must not get long values: its time grows with the square of a list's
 * repetitions, up to minutes for a body of the allowed size.
 */
export function createSetLongValuesAside(schema: TSchema): SetLongValuesAside {
  const { properties = {} }: ObjectSchema = schema;
  const limited = Object.entries(properties).filter(
    ([, { maxItems, maxProperties }]) => maxItems !== undefined || maxProperties !== undefined,
  );
  return (value) => {
    if (!isObject(value)) return { errors: [], rest: value };
    // Nearly every value is short enough, and is returned without a look at its other fields.
    for (const [name, property] of limited) {
      if (lengthError(property, value[name]) !== undefined) return setAside(schema, value);
    }
    return { errors: [], rest: value };
  };
}

function setAside(schema: TSchema, value: Readonly<Record<string, unknown>>): ReturnType<SetLongValuesAside> {
  const errors = Object.entries(value).flatMap(([name, field]) => {
    const error = lengthError(propertyOf(schema, name), field);
    return error === undefined ? [] : [{ ...error, instancePath: `/${escapePointer(name)}` }];
  });
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
