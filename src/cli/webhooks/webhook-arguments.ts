import { eventNames } from '../events/event-options.ts';
import { argument, option } from '../parameters.ts';

export const WEBHOOK_ID = argument('id of the webhook', { completes: 'webhooks' });

export const WEBHOOK_EVENTS = option(
  '--events <names>',
  'events that it gets, separated by commas; * for all',
  { parse: eventNames, completes: 'events' },
);
