import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { formatWebhookSecret } from '../../../contract/webhook-signing.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { checkSecret, withoutLineEnd } from '../../connection/settings.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { existing, flag, option } from '../../framework/parameters.ts';
import { readStdin } from '../../terminal/source-text.ts';
import { printWarning, type Terminal } from '../../terminal/terminal.ts';
import { eventNames } from '../events/event-view.ts';

export const WEBHOOK_ID = existing('id of the webhook', 'webhooks');

export const WEBHOOK_EVENTS = option(
  '--events <names>',
  'events that it receives, separated by commas; * for all',
  { parse: eventNames, completes: 'events' },
);

export const WEBHOOK_ORDERED = flag('--ordered', 'send the events of each room one after the other');

export const WEBHOOK_UNORDERED = flag('--unordered', 'send the events of a room side by side again');

const SECRET_BYTES = 32;

export const SECRET_STDIN = flag(
  '--secret-stdin',
  'read the signing secret from stdin; asked for on a terminal',
);

export type SecretOptions = { readonly secretStdin: boolean };

/** Reads the secret from stdin, or asks for it unseen on a terminal; undefined without the option. */
export async function readGivenSecret(
  context: Context,
  { secretStdin }: SecretOptions,
): Promise<string | undefined> {
  if (!secretStdin) return undefined;
  if (context.prompter.isInteractive) return context.prompter.secret('Signing secret:');
  if (context.flags.apiSecretFile === '-') {
    throw usageError(
      '--secret-stdin and --api-secret-file - cannot both read stdin',
      'give the API secret by RTC_API_SECRET or a file',
    );
  }
  const secret = withoutLineEnd(await readStdin(context.io));
  if (secret === '') {
    throw usageError('stdin has no signing secret', 'such as: pass show hook | rtc … --secret-stdin');
  }
  return checkSecret(secret, 'stdin');
}

export function generateSecret(): string {
  return formatWebhookSecret(randomBytes(SECRET_BYTES));
}

/** Prints the service's warnings about an address, because only the service knows the networks that it delivers to. */
export function printWarnings(terminal: Terminal, { warnings = [] }: Webhook): void {
  for (const { detail } of warnings) printWarning(terminal, detail);
}

/** Returns whether the address is on this machine. */
export function isLoopback(url: string): boolean {
  // The host without the brackets of IPv6.
  const host = (URL.parse(url)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
