import { Agent } from 'undici';
import { CliError, EXIT } from './failure.ts';

export type ControlCall = {
  /** WebSocket address of the media server, as tokens carry it. */
  readonly url: string;
  readonly token: string;
  readonly action: string;
  readonly body: object | undefined;
  readonly signal: AbortSignal;
};

const TIMEOUT_MS = 10_000;

/** POST /embedded/<action>; `error` is the embedded server's own word, absent when something else answered. */
export async function postControl(
  call: ControlCall,
): Promise<{ readonly status: number; readonly error: string | undefined }> {
  const base = new URL(call.url.replace(/^ws/, 'http'));
  const agent = new Agent();
  try {
    const response = await agent.request({
      origin: base.origin,
      path: `/embedded/${call.action}`,
      method: 'POST',
      headers: { authorization: `Bearer ${call.token}`, 'content-type': 'application/json' },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: response.statusCode, error: errorOf(await response.body.text()) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(
      EXIT.unavailable,
      `${base.origin} cannot be reached: ${reason}`,
      'start it: rtc dev --media embedded',
      {
        cause,
      },
    );
  } finally {
    await agent.destroy();
  }
}

function errorOf(text: string): string | undefined {
  try {
    const { error } = (JSON.parse(text) ?? {}) as { readonly error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    // A real LiveKit's "404 page not found".
    return undefined;
  }
}
