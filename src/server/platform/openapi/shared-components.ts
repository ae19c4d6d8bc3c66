import { objectsOf } from '../../../contract/unknown-value.ts';
import type { JsonObject } from './schema-document.ts';

/*
 * Parameters and error responses that several operations share become components: inline, they would be three quarters
 * of the document.
 */

type Operation = JsonObject & { readonly operationId: string };
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;
type Kind = 'parameters' | 'responses';

type Shared = {
  readonly paths: Paths;
  readonly parameters: Readonly<Record<string, JsonObject>>;
  readonly responses: Readonly<Record<string, JsonObject>>;
};

/** @param nameOfError the component name of an error response; undefined for a response that stays inline */
export function shareComponents(
  paths: Paths,
  nameOfError: (response: JsonObject) => string | undefined,
): Shared {
  const parameters = new SharedParts('parameters');
  const responses = new SharedParts('responses');
  for (const operation of operationsOf(paths)) {
    for (const parameter of parametersOf(operation)) parameters.count(parameter);
  }
  const shared = mapOperations(paths, (operation) => ({
    ...operation,
    ...(operation.parameters === undefined
      ? {}
      : {
          parameters: parametersOf(operation).map((parameter) =>
            parameters.isRepeated(parameter)
              ? parameters.refer(parameter, String(parameter.name), operation.operationId)
              : parameter,
          ),
        }),
    responses: Object.fromEntries(
      Object.entries(responsesOf(operation)).map(([status, response]) => {
        const name = nameOfError(response);
        return [status, name === undefined ? response : responses.refer(response, name, status)];
      }),
    ),
  }));
  return { paths: shared, parameters: parameters.components, responses: responses.components };
}

/** Parts of equal content share one component, under the first requested name. */
class SharedParts {
  readonly components: Record<string, JsonObject> = {};
  readonly #kind: Kind;
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  count(part: JsonObject): void {
    const key = JSON.stringify(part);
    this.#uses.set(key, (this.#uses.get(key) ?? 0) + 1);
  }

  isRepeated(part: JsonObject): boolean {
    return (this.#uses.get(JSON.stringify(part)) ?? 0) > 1;
  }

  /** @param qualifier distinguishes a part with the same name and different content */
  refer(part: JsonObject, name: string, qualifier: string): JsonObject {
    const key = JSON.stringify(part);
    const known = this.#names.get(key);
    const chosen = known ?? (this.components[name] === undefined ? name : `${name}.${qualifier}`);
    if (known === undefined) {
      this.#names.set(key, chosen);
      this.components[chosen] = part;
    }
    return { $ref: `#/components/${this.#kind}/${chosen}` };
  }
}

function operationsOf(paths: Paths): readonly Operation[] {
  return Object.values(paths).flatMap((item) => Object.values(item));
}

function mapOperations(paths: Paths, change: (operation: Operation) => Operation): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, change(operation)])),
    ]),
  );
}

function parametersOf({ parameters }: Operation): readonly JsonObject[] {
  return objectsOf(parameters);
}

function responsesOf({ responses }: Operation): Readonly<Record<string, JsonObject>> {
  return responses as Readonly<Record<string, JsonObject>>;
}
