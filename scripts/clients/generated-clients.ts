import { generateGo } from './go.ts';
import type { Json } from './model.ts';
import { generatePython } from './python.ts';
import { readModel } from './read-model.ts';

/** Returns the generated files of the clients, from the service's OpenAPI document. */
export function generatedClients(
  document: Json,
): readonly { readonly path: string; readonly text: string }[] {
  const model = readModel(document);
  return [
    { path: 'clients/python/rtc_service/api.py', text: generatePython(model) },
    { path: 'clients/go/api.go', text: generateGo(model) },
  ];
}
