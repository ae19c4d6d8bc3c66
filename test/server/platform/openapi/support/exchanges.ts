import type { OpenApi } from '../../../../support/conformance.ts';
import type { CallOptions, JsonResponse } from '../../../../support/http-call.ts';
import type { TestService } from '../../../../support/service.ts';

/* Records real requests and responses by operation. They are the examples of the document. */

type Values = Readonly<Record<string, string>>;

export type Request = {
  readonly path?: Values;
  readonly query?: Values;
  readonly body?: unknown;
  /** Set if the request should fail. Then its problem is recorded, and not the request. */
  readonly fails?: string;
  readonly options?: CallOptions;
};

type Operation = {
  path?: Values;
  query?: Values;
  body?: unknown;
  responses: Record<string, unknown>;
};

export type Exchanges = {
  readonly operations: Record<string, Operation>;
  readonly problems: Record<string, unknown>;
  readonly deliveries: Readonly<Record<string, unknown>>;
};

export class ExchangeRecorder {
  readonly exchanges: Exchanges = { operations: {}, problems: {}, deliveries: {} };
  readonly #service: TestService;

  constructor(service: TestService) {
    this.#service = service;
  }

  /** Sends a request of the operation, and records it with its response. */
  async send<T = never>(operationId: string, request: Request = {}): Promise<T> {
    const { method, template, isSigned } = findOperation(this.#service.document, operationId);
    const { path = {}, query = {}, body, fails, options = {} } = request;
    const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? name),
    );
    const parameters = new URLSearchParams(query).toString();
    const response = await this.#service.call(
      method,
      parameters === '' ? filled : `${filled}?${parameters}`,
      {
        ...(isSigned ? {} : { signing: false }),
        ...(body === undefined ? {} : { body }),
        ...options,
      },
    );
    if (fails === undefined) this.#keep(operationId, request, response);
    else this.#keepProblem(fails, response);
    return response.json;
  }

  #keep(operationId: string, { path, query, body }: Request, { status, json, text }: JsonResponse): void {
    if (status >= 400) throw new Error(`${operationId} failed: ${text}`);
    const known = this.exchanges.operations[operationId];
    const parts = { ...(path && { path }), ...(query && { query }), ...(body === undefined ? {} : { body }) };
    const responses = { ...(json === undefined ? {} : { [status]: json }), ...known?.responses };
    this.exchanges.operations[operationId] = { ...(known ?? parts), responses };
  }

  #keepProblem(code: string, { json, text }: JsonResponse): void {
    const { type }: { readonly type?: string } = JSON.parse(text);
    if (type !== `urn:problem-type:rtc:${code}`) throw new Error(`not ${code}: ${text}`);
    this.exchanges.problems[code] = json;
  }
}

function findOperation(document: OpenApi, operationId: string) {
  for (const [template, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation.operationId !== operationId) continue;
      const { security = [] } = operation as { readonly security?: readonly object[] };
      return { method: method.toUpperCase(), template, isSigned: security.length > 0 };
    }
  }
  throw new Error(`There is no operation ${operationId}.`);
}
