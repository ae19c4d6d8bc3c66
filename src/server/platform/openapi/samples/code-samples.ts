import type { TSchema } from 'typebox';
import type { Route } from '../../http/route.ts';
import { recordedOperation } from '../recorded-examples.ts';
import { exampleOf, type JsonObject } from '../schema-document.ts';
import { cSharpSample, goSample, javaSample } from './compiled-languages.ts';
import type { SampleRequest } from './sample-request.ts';
import { phpSample, pythonSample } from './scripting-languages.ts';
import { curlSample, rtcSample } from './shell.ts';
import { typescriptSample } from './typescript.ts';

/*
 * Writes code samples of each operation, with the values of its example. By itself the page would show requests without a
 * signature, which the service rejects. `x-codeSamples` is Redoc's extension, which other pages support too:
 * https://redocly.com/docs-legacy/api-reference-docs/specification-extensions/x-code-samples
 */

type Language = {
  readonly lang: string;
  readonly label: string;
  readonly write: (request: SampleRequest) => string;
};

/** Languages in the document itself. More of them would be most of the document. */
const SHELL: readonly Language[] = [
  { lang: 'Shell', label: 'curl', write: curlSample },
  { lang: 'Shell', label: 'rtc', write: rtcSample },
];

/** Further languages on the page. */
const OTHERS: readonly Language[] = [
  { lang: 'TypeScript', label: 'TypeScript', write: typescriptSample },
  { lang: 'Python', label: 'Python', write: pythonSample },
  { lang: 'Go', label: 'Go', write: goSample },
  { lang: 'PHP', label: 'PHP', write: phpSample },
  { lang: 'Java', label: 'Java', write: javaSample },
  // No toolchain of the tests runs this one.
  { lang: 'C#', label: 'C# (reviewed only)', write: cSharpSample },
];

export function shellSamples(route: Route): readonly JsonObject[] {
  return samplesIn(SHELL, route);
}

export function allSamples(route: Route): readonly JsonObject[] {
  return samplesIn([...SHELL, ...OTHERS], route);
}

function samplesIn(languages: readonly Language[], route: Route): readonly JsonObject[] {
  const request = sampleRequest(route);
  return languages
    .filter(({ label }) => request.isSigned || label !== 'rtc')
    .map(({ lang, label, write }) => ({ lang, label, source: write(request) }));
}

function sampleRequest(route: Route): SampleRequest {
  const recorded = recordedOperation(route.operationId);
  const values = recorded?.path ?? textsOf(route.params);
  const query = recorded?.query ?? requiredOf(route.query);
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? name),
  );
  const parameters = new URLSearchParams(query).toString();
  const body = recorded?.body ?? (route.body === undefined ? undefined : exampleOf(route.body));
  return {
    operationId: route.operationId,
    method: route.method,
    path: parameters === '' ? path : `${path}?${parameters}`,
    values: Object.values(values),
    query,
    body: body === undefined ? undefined : JSON.stringify(body, undefined, 2),
    isSigned: route.security === 'signed',
  };
}

function textsOf(schema: TSchema | undefined): Readonly<Record<string, string>> {
  const values: object = schema === undefined ? {} : { ...Object(exampleOf(schema)) };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function requiredOf(schema: TSchema | undefined): Readonly<Record<string, string>> {
  const { required = [] }: { readonly required?: readonly string[] } = schema ?? {};
  return Object.fromEntries(Object.entries(textsOf(schema)).filter(([name]) => required.includes(name)));
}
