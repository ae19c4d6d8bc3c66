import { RtcError } from '../../../client/rtc-error.ts';
import type { Webhook } from '../../../contract/webhooks.ts';
import { EXIT } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import { YES } from '../../framework/common-options.ts';
import { confirmOnService } from '../../framework/confirm-on-service.ts';
import type { Context } from '../../framework/context.ts';
import { done, type Result, text } from '../../terminal/result.ts';
import { printStatus, printWarning } from '../../terminal/terminal.ts';
import { generateSecret, readGivenSecret, SECRET_STDIN, WEBHOOK_ID } from './webhook-arguments.ts';
import { WEBHOOK_FIELDS } from './webhook-view.ts';

export const rotate = defineCommand({
  noun: 'webhooks',
  verb: 'rotate',
  summary: 'Give a webhook a new secret',
  description:
    'Generates the secret and prints it once. For 24 hours the header webhook-signature carries the signatures of both secrets. X-Service-Webhook-Signature carries the new one only.',
  needs: 'service',
  fields: WEBHOOK_FIELDS,
  arguments: { id: WEBHOOK_ID },
  options: { secretStdin: SECRET_STDIN, yes: YES },
  examples: [
    {
      line: 'rtc webhooks rotate wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C',
      does: 'Ask first; print the new secret and nothing else',
    },
    {
      line: 'rtc webhooks rotate wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --yes | pass insert -m hook',
      does: 'Without asking, straight into a password store',
    },
  ],
  async run(context, { id, secretStdin, yes }) {
    const client = await context.client();
    await confirmOnService(context, {
      isSure: yes || context.flags.isCurl,
      what: 'rotating the secret of a webhook',
      question: async () => {
        const { url } = await client.webhooks.get(id, { signal: context.io.signal });
        return `Give ${url} a new secret? X-Service-Webhook-Signature will not match until the receiver has it.`;
      },
    });
    const given = await readGivenSecret(context, { secretStdin });
    const secret = given ?? generateSecret();
    try {
      const webhook = await client.webhooks.put(id, { secret }, { signal: context.io.signal });
      if (webhook.id !== id) return unconfirmed(context, id, secret);
      return given === undefined ? rotated(webhook, secret) : done(`${id} has the new secret.`);
    } catch (error) {
      if (given !== undefined || !mayHaveBeenTaken(error)) throw error;
      return unconfirmed(context, id, secret);
    }
  },
});

function rotated(webhook: Webhook, secret: string): Result {
  return text(secret, {
    response: { ...webhook, secret },
    notes: [
      'Keep the secret now: it is not shown again.',
      'For 24 hours webhook-signature carries the old signature too; X-Service-Webhook-Signature only the new one.',
    ],
  });
}

/** Whether the request may have arrived, and only its response was lost. */
function mayHaveBeenTaken(error: unknown): boolean {
  if (!(error instanceof RtcError)) return false;
  const isRefused = error.status !== undefined && error.status >= 400 && error.status < 500;
  return !isRefused;
}

/** Without its secret a webhook that stored it would be unusable, so the secret is printed nevertheless. */
function unconfirmed(context: Context, id: string, secret: string): Result {
  printWarning(
    context.terminal,
    `the service has not confirmed this secret, and may or may not have accepted it`,
  );
  printStatus(context.terminal, `Find out: rtc webhooks test ${id}`);
  return text(secret, {
    response: { id, secret },
    exitCode: context.io.signal.aborted ? EXIT.cancelled : EXIT.unavailable,
  });
}
