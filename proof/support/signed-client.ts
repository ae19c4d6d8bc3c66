import { Pool } from 'undici';
import { type Signing, signatureHeaders } from '../../test/support/sign.ts';

export type ServiceResponse = {
  readonly status: number;
  readonly text: string;
  /** The members of the JSON object in the text. Empty if it is not one. */
  readonly json: Readonly<Record<string, unknown>>;
};

/** Sends each request once. Throws if the connection fails. */
export type SignedClient = {
  readonly call: (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<ServiceResponse>;
  /** Posts without a signature, with the request's own headers. */
  readonly post: (path: string, request: WholeRequest) => Promise<ServiceResponse>;
  readonly close: () => Promise<void>;
};

export type WholeRequest = { readonly body: string; readonly headers: Readonly<Record<string, string>> };

export function createSignedClient(
  url: string,
  keys: Omit<Signing, 'timestamp'>,
  connections: number,
): SignedClient {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const send = async (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    { body, headers }: { readonly body: string | null; readonly headers: Readonly<Record<string, string>> },
  ): Promise<ServiceResponse> => {
    const response = await pool.request({ method, path, body, headers });
    const text = await response.body.text();
    return { status: response.statusCode, text, json: objectOf(text) };
  };
  return {
    call: (method, path, body) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const signing = { ...keys, timestamp: Math.floor(Date.now() / 1000) };
      const type = text === undefined ? {} : { 'content-type': 'application/json' };
      const headers = { ...signatureHeaders({ method, path, body: text }, signing), ...type };
      return send(method, path, { body: text ?? null, headers });
    },
    post: (path, request) => send('POST', path, request),
    close: () => pool.close(),
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
