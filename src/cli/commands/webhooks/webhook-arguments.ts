import { existing, flag, option } from '../../framework/parameters.ts';
import { eventNames } from '../events/event-options.ts';

export const WEBHOOK_ID = existing('id of the webhook', 'webhooks');

export const WEBHOOK_EVENTS = option(
  '--events <names>',
  'events that it receives, separated by commas; * for all',
  { parse: eventNames, completes: 'events' },
);

export const WEBHOOK_ORDERED = flag('--ordered', 'send the events of each room one after the other');

export const WEBHOOK_UNORDERED = flag('--unordered', 'send the events of a room side by side again');
