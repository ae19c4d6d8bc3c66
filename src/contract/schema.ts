import { type TProperties, type TSchema, Type } from 'typebox';

/* The kinds of schemas that the contract has. The document of the API and the generated clients know those with an `$id` by it. */

export function named<Properties extends TProperties>(
  $id: string,
  description: string,
  properties: Properties,
) {
  return Type.Object(properties, { $id, description });
}

/** The body of a request: a field that is not known is refused, because a misspelt one must not be ignored. */
export function closed<Properties extends TProperties>(
  $id: string,
  description: string,
  properties: Properties,
) {
  return Type.Object(properties, { $id, description, additionalProperties: false });
}

/** An object to which newer services and media servers may add fields, which are passed on. */
export function open<Properties extends TProperties>(
  $id: string,
  description: string,
  properties: Properties,
) {
  return Type.Object(properties, { $id, additionalProperties: true, description });
}

/** The query of a request: a parameter that is not known is refused, as a field of a body is. */
export function closedQuery<Parameters extends TProperties>(parameters: Parameters) {
  return Type.Object(parameters, { additionalProperties: false });
}

export function orNull<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** A parameter or field that may have an instant. */
export function optionalInstant(description: string, example?: string) {
  const examples = example === undefined ? {} : { examples: [example] };
  return Type.Optional(Type.String({ format: 'date-time', description, ...examples }));
}
