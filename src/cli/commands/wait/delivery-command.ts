import { pause } from '../../../client/transport/retry.ts';
import { retryUntilResponse } from '../../../client/transport/retry-until-response.ts';
import type { Delivery } from '../../../contract/deliveries.ts';
import { EXIT } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import { existing, oneOf, option } from '../../framework/parameters.ts';
import { record } from '../../terminal/result.ts';
import { printHint } from '../../terminal/terminal.ts';
import { DELIVERY_FIELDS, deliveryColumns } from '../webhooks/webhook-view.ts';
import { interruptionHandlers } from './follow-state.ts';
import { TIMEOUT, withinTime } from './time-limit.ts';

/** The maximum wait of the service. */
const WAIT_SECONDS = 25;
const SHORTEST_WAIT_MS = 500;

export const waitForDelivery = defineCommand({
  noun: 'wait',
  verb: 'delivery',
  summary: 'Wait until a delivery has succeeded, or failed for good',
  description:
    'Exit codes: 0 if it ended in the state of --for, 7 if it ended in another one, 8 if it has not ended in time, 3 if there is no such delivery. The last attempt is 5 min 35 s after the first.',
  needs: 'service',
  fields: DELIVERY_FIELDS,
  arguments: {
    webhook: existing('id of the webhook', 'webhooks'),
    delivery: existing('id of the delivery', 'deliveries'),
  },
  options: {
    for: option('--for <state>', 'default delivered', oneOf(['delivered', 'failed', 'cancelled'])),
    timeout: TIMEOUT,
  },
  examples: [
    {
      line: 'rtc wait delivery wh_01KAJ3F5N8QZ7V2M4T6W8Y0B1C dlv_01KAJ3F5N8QZ7V2M4T6W8Y0B1C --timeout 6m',
      does: 'Through all attempts',
    },
  ],
  async run(context, { webhook, delivery, for: wanted = 'delivered', timeout }) {
    const client = await context.client();
    const isOver = ({ status }: Delivery): boolean => status !== 'pending';
    const what = `delivery ${delivery} to be ${wanted}`;
    const limit = {
      what,
      timeoutSeconds: timeout,
      read: (signal: AbortSignal) => client.deliveries.get(webhook, delivery, { signal }),
      isOver,
    };
    const ended = await withinTime(context, limit, async (first, signal) => {
      printHint(context.terminal, `Waiting for ${what}. Press Ctrl-C to end.`);
      let state = first;
      while (!isOver(state)) {
        const startedAt = performance.now();
        const options = { wait: WAIT_SECONDS, signal };
        state = await retryUntilResponse({}, interruptionHandlers(context, signal), () =>
          client.deliveries.get(webhook, delivery, options),
        );
        // A service that shuts down, or a proxy, may end a wait at once.
        const isShort = performance.now() - startedAt < SHORTEST_WAIT_MS;
        if (!isOver(state) && isShort) await pause(SHORTEST_WAIT_MS, signal);
      }
      return state;
    });
    return record({
      response: ended,
      record: ended,
      columns: deliveryColumns(context.terminal),
      exitCode: ended.status === wanted ? EXIT.success : EXIT.negative,
    });
  },
});
