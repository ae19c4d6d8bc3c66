import { argument, option } from '../../framework/parameters.ts';
import { eventNames } from '../events/event-options.ts';

export const WEBHOOK_ID = argument('id of the webhook', { completes: 'webhooks' });

export const WEBHOOK_EVENTS = option(
  '--events <names>',
  'events that it gets, separated by commas; * for all',
  { parse: eventNames, completes: 'events' },
);
