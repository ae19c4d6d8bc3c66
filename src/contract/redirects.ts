/** Longer addresses are cut, because the receiver chooses them. */
const MAX_SHOWN = 200;

/** Whether a status asks the caller to send the request to another address. */
export function isRedirect(statusCode: number): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode);
}

/**
 * Describes a redirect, which is not followed, for the owner of the webhook: where it leads, and what to do. The query and
 * the password of the address are masked, because they may be secrets.
 */
export function describeRedirect(location: string | undefined, base: string): string {
  if (location === undefined || location === '') return 'redirects, but does not say where';
  if (!URL.canParse(location, base)) return 'redirects to an address that is not valid';
  const url = new URL(location, base);
  if (!/^https?:$/.test(url.protocol)) return 'redirects to an address that is neither http nor https';
  const path = url.pathname.slice(0, MAX_SHOWN) + (url.pathname.length > MAX_SHOWN ? '…' : '');
  const user = url.username === '' && url.password === '' ? '' : '***@';
  const query = url.search === '' ? '' : '?***';
  return `redirects to ${url.protocol}//${user}${url.host}${path}${query}: register that address`;
}
