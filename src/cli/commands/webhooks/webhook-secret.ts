import { randomBytes } from 'node:crypto';
import { formatWebhookSecret } from '../../../contract/webhook-signing.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Context } from '../../framework/context.ts';
import { flag } from '../../framework/parameters.ts';
import { readStdin } from '../../terminal/source-text.ts';

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
  const secret = (await readStdin(context.io)).replace(/\r?\n$/, '');
  if (secret === '') {
    throw usageError('stdin has no signing secret', 'such as: pass show hook | rtc … --secret-stdin');
  }
  return secret;
}

export function generateSecret(): string {
  return formatWebhookSecret(randomBytes(SECRET_BYTES));
}
