import { existing, option } from '../../framework/parameters.ts';
import { eventNames } from '../events/event-options.ts';

export const WEBHOOK_ID = existing('id of the webhook', 'webhooks');

export const WEBHOOK_EVENTS = option(
  '--events <names>',
  'events that it receives, separated by commas; * for all',
  { parse: eventNames, completes: 'events' },
);
