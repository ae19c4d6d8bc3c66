import { hkdfSync } from 'node:crypto';
import type { RtcClient } from '../../../client/client.ts';
import { formatWebhookSecret } from '../../../contract/webhook-signing.ts';
import { openClient } from '../../connection/connect.ts';
import { readCredentials } from '../../connection/settings.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { option } from '../../framework/parameters.ts';
import { forwardEvents } from './follow.ts';

const SECRET_BYTES = 32;

/** Variable of the signing secret of verify, listen and tail, as in receivers' own environments. */
export const SECRET_VARIABLE = 'RTC_WEBHOOK_SECRET';

/** `http://localhost:4000/hook`, `localhost:4000/hook` or `4000`. */
export function receiverUrl(word: string): URL {
  const full = /^\d+$/.test(word) ? `http://localhost:${word}/` : word;
  const url = URL.parse(/^\w+:\/\//.test(full) ? full : `http://${full}`);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) {
    if (url.username === '' && url.password === '') return url;
    throw usageError('must not contain a user name or password', 'leave it out of the address');
  }
  throw usageError(
    `${JSON.stringify(word)} is not an address of a receiver`,
    'write it such as http://localhost:4000/hook, or 4000 for a port of this machine',
  );
}

export const FORWARD_TO = option(
  '--forward-to <url>',
  'receiver, such as http://localhost:4000/hook or 4000',
  receiverUrl,
);

type ForwardOptions = Pick<
  Parameters<typeof forwardEvents>[1],
  'url' | 'events' | 'room' | 'since' | 'cursor' | 'end' | 'skipVerify'
>;

/** Forwards until the signal. Prints the destination and the secret first. */
export async function forward(context: Context, options: ForwardOptions): Promise<void> {
  const { secret, isOfEnvironment, open } = await readSigner(context);
  const client = await open();
  try {
    await forwardEvents(context, {
      ...options,
      client,
      secret,
      onReady: () => announce(context, options, isOfEnvironment ? undefined : secret),
    });
  } finally {
    await client.close();
  }
}

type Signer = {
  readonly secret: string;
  /** A secret of the user's own environment is not printed. */
  readonly isOfEnvironment: boolean;
  readonly open: () => Promise<RtcClient>;
};

/** Credentials are read once for both, because stdin and a secret command cannot be read twice. */
export async function readSigner(context: Context): Promise<Signer> {
  const own = secretOfEnvironment(context);
  const settings = await context.settings();
  const credentials = await readCredentials(settings);
  return {
    secret: own ?? deriveListenSecret(credentials),
    isOfEnvironment: own !== undefined,
    open: () => openClient(context, { url: settings.url.value, ...credentials }),
  };
}

function announce(
  { terminal }: Context,
  { url, events, room }: ForwardOptions,
  secret: string | undefined,
): void {
  const { heading, name, faint } = terminal.errorPalette;
  const what = events === undefined || events.includes('*') ? 'Events' : events.join(', ');
  const where = room === undefined ? '' : ` of ${JSON.stringify(room)}`;
  const signed =
    secret === undefined
      ? `Signed with ${SECRET_VARIABLE}.`
      : `Signing secret: ${name(secret)}\n${faint('Again: rtc webhooks listen --print-secret')}`;
  terminal.io.stderr.write(
    `${heading('Ready.')} ${what}${where} go to ${url.href}; Ctrl-C ends.\n${signed}\n`,
  );
}

export function secretOfEnvironment({ io }: Context): string | undefined {
  const secret = io.env[SECRET_VARIABLE];
  return secret === '' ? undefined : secret;
}

/**
 * The secret with which `listen` and `tail --forward-to` sign. It is derived from the API secret, so that it is the same
 * each time and need not be stored. It does not reveal the API secret (HKDF, RFC 5869).
 */
function deriveListenSecret(credentials: { readonly apiKey: string; readonly apiSecret: string }): string {
  const { apiKey, apiSecret } = credentials;
  return formatWebhookSecret(
    Buffer.from(hkdfSync('sha256', apiSecret, apiKey, 'rtc webhooks listen', SECRET_BYTES)),
  );
}
