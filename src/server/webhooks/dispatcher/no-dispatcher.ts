import type { DeliveryDispatcher } from './dispatcher.ts';

/**
 * The dispatcher of processes that store deliveries and never send any. The service finds the deliveries within a moment.
 */
export const NO_DISPATCHER: DeliveryDispatcher = {
  leaseFor: () => undefined,
  dispatch: () => {},
  poll: () => {},
  overflow: () => {},
  invalidateWebhook: () => {},
};
