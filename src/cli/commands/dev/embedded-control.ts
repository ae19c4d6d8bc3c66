import { Agent } from 'undici';
import type { WireRequest } from '../../../client/client-options.ts';
import { readMembers } from '../../../contract/unknown-value.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';

export type ControlCall = {
  /** WebSocket address of the media server, as in tokens. */
  readonly url: string;
  readonly token: string;
  readonly action: string;
  readonly body: object | undefined;
};

const TIMEOUT_MS = 10_000;

/** POST /embedded/<action> */
export function controlRequest({ url, token, action, body }: ControlCall): WireRequest {
  return {
    method: 'POST',
    origin: new URL(url.replace(/^ws/, 'http')).origin,
    path: `/embedded/${action}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** `error` is the embedded server's own message, absent for the response of another program. */
export async function sendControl(
  request: WireRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly error: string | undefined }> {
  const agent = new Agent();
  try {
    const response = await agent.request({
      origin: request.origin,
      path: request.path,
      method: 'POST',
      headers: request.headers,
      body: request.body ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: response.statusCode, error: readError(await response.body.text()) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(EXIT.unavailable, `${request.origin} cannot be reached: ${reason}`, {
      next: 'start it: rtc dev --media embedded',
      cause,
    });
  } finally {
    await agent.destroy();
  }
}

function readError(text: string): string | undefined {
  try {
    const { error } = readMembers(JSON.parse(text));
    return typeof error === 'string' ? error : undefined;
  } catch {
    // A real LiveKit's "404 page not found".
    return undefined;
  }
}
