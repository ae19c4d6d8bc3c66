import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { findResponseErrors, type OpenApi, type WireResponse } from './conformance.ts';
import { type Signing, signatureHeaders } from './sign.ts';

export type JsonResponse = WireResponse & {
  /** The body as JSON; undefined if there is none. */
  readonly json: never;
};

export type CallOptions = {
  /** Sent as JSON, unless it is text or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Overrides the service's own key, secret and time. `false` sends no signature. */
  readonly signing?: Partial<Signing> | false;
  readonly signal?: AbortSignal;
};

export type Call = (method: string, path: string, options?: CallOptions) => Promise<JsonResponse>;

export type Caller = {
  /** Sends a signed request. Throws if the response does not conform to the OpenAPI document. */
  readonly call: Call;
  readonly document: OpenApi;
  close(): void;
};

/**
 * Returns functions that call a listening service, whose address may have a path. Every response is compared with the
 * service's own OpenAPI document.
 */
export async function createCaller(url: string, signing: () => Signing): Promise<Caller> {
  const agent = new Agent({ keepAlive: true });
  const prefix = new URL(url).pathname.replace(/\/$/, '');
  const send = async (method: string, path: string, options: CallOptions = {}): Promise<WireResponse> => {
    const body = readBody(options.body);
    const signed =
      options.signing === false
        ? {}
        : signatureHeaders({ method, path: prefix + path, body }, { ...signing(), ...options.signing });
    const isJson =
      body !== undefined && typeof options.body !== 'string' && !(options.body instanceof Uint8Array);
    const headers = {
      ...signed,
      ...(isJson ? { 'Content-Type': 'application/json' } : {}),
      ...(body === undefined ? {} : { 'Content-Length': `${body.length}` }),
      ...options.headers,
    };
    const sent = { method, path: prefix + path, headers, body, agent, signal: options.signal };
    return { ...(await exchange(url, sent)), path };
  };
  const document = JSON.parse((await send('GET', '/openapi.json', { signing: false })).text) as OpenApi;
  const call: Call = async (method, path, options) => {
    const response = await send(method, path, options);
    const faults = findResponseErrors(document, response);
    if (faults.length > 0) {
      throw new Error(
        `${method} ${path} ${response.status}: ${faults.join('; ')}\n${response.text.slice(0, 500)}`,
      );
    }
    const isJson = /^application\/([\w.]+\+)?json\b/.test(String(response.headers['content-type']));
    return {
      ...response,
      json: (isJson && response.text !== '' ? JSON.parse(response.text) : undefined) as never,
    };
  };
  return { call, document, close: () => agent.destroy() };
}

function readBody(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

type Exchange = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | undefined;
  readonly agent: Agent;
  readonly signal: AbortSignal | undefined;
};

/** Uses Node's own client, because fetch normalises paths and refuses the body of a GET. */
function exchange(
  url: string,
  { method, path, headers, body, agent, signal }: Exchange,
): Promise<WireResponse> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = {
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      method,
      path,
      agent,
      headers: { ...headers } as OutgoingHttpHeaders,
    };
    const sent = request({ ...options, ...(signal === undefined ? {} : { signal }) });
    sent.once('error', reject);
    sent.once('response', (response: IncomingMessage) => {
      text(response).then(
        (received) =>
          resolve({
            method,
            path,
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: received,
          }),
        reject,
      );
    });
    sent.end(body);
  });
}
