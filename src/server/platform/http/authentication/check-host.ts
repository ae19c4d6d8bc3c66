import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../../contract/errors.ts';

/**
 * An HTTP/1.1 request must have exactly one Host header (RFC 9112, section 3.2). Node keeps only the first one, and a
 * proxy in front may have used the other.
 *
 * @throws ServiceError invalid-request.
 */
export function checkHost({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): void {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  const isOptional = httpVersionMajor === 1 && httpVersionMinor === 0;
  if (count === 1 || (count === 0 && isOptional)) return;
  const found = count === 0 ? 'none' : `${count}`;
  throw new ServiceError('invalid-request', `The request must have one Host header; it has ${found}.`);
}
