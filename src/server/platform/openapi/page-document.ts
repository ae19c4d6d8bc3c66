import type { Route } from '../http/route.ts';
import { allSamples } from './samples/code-samples.ts';
import type { JsonObject } from './schema-document.ts';

/**
 * The document as the reference shows it: the guides are its introduction. The page signs by itself, so it does not ask
 * for the values of signature headers.
 */
export function pageDocument(document: JsonObject, guide: string, routes: readonly Route[]): JsonObject {
  const samples = new Map(routes.map((route) => [route.operationId, allSamples(route)]));
  const { info, tags, paths, components, ...rest } = document;
  const { securitySchemes: _, ...shown } = components as JsonObject;
  return {
    ...rest,
    info: { ...(info as JsonObject), description: guide },
    tags: tagTitles(document).map(([name, title], index) => ({
      ...(tags as readonly JsonObject[])[index],
      name,
      'x-displayName': title,
    })),
    paths: mapOperations(paths as JsonObject, ({ security: _security, ...operation }) => ({
      ...operation,
      'x-codeSamples': samples.get(String(operation.operationId)),
    })),
    components: shown,
  };
}

/** The groups of operations: their names, which stay in addresses, and their titles. */
export function tagTitles({ tags }: JsonObject): readonly (readonly [string, string])[] {
  return (tags as readonly JsonObject[]).map(({ name }) => {
    const text = String(name);
    return [text, text.charAt(0).toUpperCase() + text.slice(1)];
  });
}

function mapOperations(paths: JsonObject, change: (operation: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item as JsonObject).map(([method, operation]) => [
          method,
          change(operation as JsonObject),
        ]),
      ),
    ]),
  );
}
