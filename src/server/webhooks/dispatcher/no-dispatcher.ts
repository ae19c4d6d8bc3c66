import type { DeliveryDispatcher } from './dispatcher.ts';

/** For processes that store deliveries and leave them to the service, which finds them within a moment. */
export const NO_DISPATCHER: DeliveryDispatcher = {
  capacityFor: () => 0,
  dispatch: () => {},
  poll: () => {},
  overflow: () => {},
  invalidateWebhook: () => {},
};
