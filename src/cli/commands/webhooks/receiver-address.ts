import { isIP } from 'node:net';
import type { Webhook } from '../../../contract/webhooks.ts';
import { printWarning, type Terminal } from '../../terminal/terminal.ts';

/** Prints the service's warnings about an address, because only the service knows the networks that it delivers to. */
export function printWarningsOf(terminal: Terminal, { warnings = [] }: Webhook): void {
  for (const { detail } of warnings) printWarning(terminal, detail);
}

/** Whether the address is on this machine. */
export function isLoopback(url: string): boolean {
  // The host without the brackets of IPv6.
  const host = (URL.parse(url)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
