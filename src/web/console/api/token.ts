import { hmacSha256 } from '../../../client/transport/sign-request.ts';

/*
 * The token that shows the command line that a request is of its page. It is kept for all tabs of this origin, and ends with the
 * command. A cookie would be sent to the other ports of this machine too.
 */

const KEPT = 'rtc-console-token';

export function keepToken(token: string): void {
  localStorage.setItem(KEPT, token);
}

/** Returns the header of a request of the page. */
export function authorize(): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${localStorage.getItem(KEPT)}` };
}

/** Returns the address of something that the browser loads without headers, such as a video. It is good for nothing else. */
export async function signPath(path: string): Promise<string> {
  const encoder = new TextEncoder();
  const ticket = await hmacSha256(encoder.encode(localStorage.getItem(KEPT) ?? ''), encoder.encode(path));
  const text = Array.from(ticket, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${path}${path.includes('?') ? '&' : '?'}ticket=${text}`;
}
