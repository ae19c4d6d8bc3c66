import { hkdfSync, randomBytes } from 'node:crypto';
import { formatWebhookSecret } from '../../../contract/webhook-signing.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { flag } from '../../framework/parameters.ts';
import { readStdin } from '../../terminal/source-text.ts';

const SECRET_BYTES = 32;

/** Names the signing secret of verify, listen and tail, as in receivers' own environments. */
export const SECRET_VARIABLE = 'RTC_WEBHOOK_SECRET';

export const SECRET_STDIN = flag(
  '--secret-stdin',
  'read the signing secret from stdin; asked for on a terminal',
);

/** The secret from stdin, or typed unseen on a terminal; undefined unless it was asked for. */
export async function readGivenSecret(context: Context, isAskedFor: boolean): Promise<string | undefined> {
  if (!isAskedFor) return undefined;
  if (context.prompter.isInteractive) return context.prompter.secret('Signing secret:');
  if (context.flags.apiSecretFile === '-') {
    throw usageError(
      '--secret-stdin and --api-secret-file - cannot both read stdin',
      'give the API secret by RTC_API_SECRET or a file',
    );
  }
  const secret = (await readStdin(context.io)).replace(/\r?\n$/, '');
  if (secret === '') {
    throw usageError('stdin holds no signing secret', 'such as: pass show hook | rtc … --secret-stdin');
  }
  return secret;
}

export function secretOfEnvironment({ io }: Context): string | undefined {
  const secret = io.env[SECRET_VARIABLE];
  return secret === '' ? undefined : secret;
}

export function generateSecret(): string {
  return formatWebhookSecret(randomBytes(SECRET_BYTES));
}

/**
 * The secret with which `listen` and `tail --forward-to` sign: derived from the API secret, so that it is the same
 * each time and nothing has to be kept; it does not give the API secret away (HKDF, RFC 5869).
 */
export function deriveListenSecret(credentials: {
  readonly apiKey: string;
  readonly apiSecret: string;
}): string {
  const { apiKey, apiSecret } = credentials;
  return formatWebhookSecret(
    Buffer.from(hkdfSync('sha256', apiSecret, apiKey, 'rtc webhooks listen', SECRET_BYTES)),
  );
}
