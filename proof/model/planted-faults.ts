/** A change of the source that breaks a protocol. */
export type PlantedFault = {
  readonly protocol: 'recordings' | 'deliveries';
  readonly name: string;
  readonly file: string;
  /** A text that the file contains once. */
  readonly text: string;
  readonly replacement: string;
  /** Whether a short search finds it. */
  readonly needsFewMoves?: boolean;
};

const DISPATCHER = 'src/server/webhooks/dispatcher';
const DELIVERY_ROWS = 'test/server/webhooks/simulation/simulated-deliveries.ts';
const RECORDINGS = 'src/server/recordings';
const RECORDING_ROWS = 'test/server/recordings/simulation/simulated-store.ts';

const DELIVERY_FAULTS: readonly Omit<PlantedFault, 'protocol'>[] = [
  {
    name: 'a delivery is sent without a look at its lease',
    file: `${DISPATCHER}/delivery-dispatcher.ts`,
    text: 'const isSent = webhook !== undefined && isOwned;',
    replacement: 'const isSent = webhook !== undefined;',
  },
  {
    name: 'leases are not renewed',
    file: `${DISPATCHER}/delivery-dispatcher.ts`,
    text: 'if (this.#inFlight.size > 0) {',
    replacement: 'if (this.#inFlight.size < 0) {',
  },
  {
    name: 'an instance believes that it renewed leases which it had lost',
    file: `${DISPATCHER}/delivery-dispatcher.ts`,
    text: 'this.#inFlight.renewed(renewed, leaseUntil);',
    replacement: 'this.#inFlight.renewed(this.#inFlight.deliveryIds, leaseUntil);',
  },
  {
    name: 'an instance sends a delivery that it claimed again while its request still runs',
    file: `${DISPATCHER}/delivery-dispatcher.ts`,
    text: 'jobs.filter((job) => !this.#inFlight.has(job.delivery.id))',
    replacement: 'jobs.slice()',
  },
  {
    name: 'an order does not stop behind a delivery that was refused',
    file: `${DISPATCHER}/delivery-dispatcher.ts`,
    text: `if (outcome?.next.state !== 'delivered') this.#inFlight.stopOrder(job);`,
    replacement: '',
  },
  {
    name: 'two deliveries of an order are sent at once',
    file: `${DISPATCHER}/in-flight-deliveries.ts`,
    text: `&& !queue.runningOrders.has(delivery.orderingKey ?? '')`,
    replacement: '',
  },
  {
    name: 'the events of a room do not wait for its room_started',
    file: `${DISPATCHER}/in-flight-deliveries.ts`,
    text: `!queue.startingRooms.has(event.roomSid ?? '') &&`,
    replacement: '',
  },
  {
    name: 'an outcome whose statement failed is dropped',
    file: `${DISPATCHER}/delivery-dispatcher.ts`,
    text: 'await clock.sleep(RETRY_PAUSE_MS, signal).catch(() => {});',
    replacement: 'return;',
  },
  {
    name: 'a delivery is claimed before its lease has run out',
    file: DELIVERY_ROWS,
    text: 'return Math.max(dueAt, leaseUntil ?? 0);',
    replacement: 'return Math.max(dueAt, (leaseUntil ?? 0) - 8_000);',
  },
  {
    name: 'an outcome is stored without the lease',
    file: DELIVERY_ROWS,
    text: 'if (row.leaseOwner !== owner) this.#change(row.id, counted);',
    replacement: 'if (row.leaseOwner === undefined) this.#change(row.id, counted);',
  },
  {
    name: 'an outcome that is stored twice counts twice',
    file: DELIVERY_ROWS,
    text: 'if (logged.includes(key)) {',
    replacement: 'if (logged.includes("")) {',
  },
  {
    name: 'a lease is renewed by an instance that has lost it',
    file: DELIVERY_ROWS,
    text: 'this.#held(owner, id) && this.#change(id, { leaseUntil })',
    replacement: 'this.#change(id, { leaseUntil })',
  },
  {
    name: 'an ordered delivery does not wait for those before it',
    file: DELIVERY_ROWS,
    text: 'if (this.#pendingOf(delivery).length === 0) return',
    replacement: 'if (this.events.size > 0) return',
    needsFewMoves: true,
  },
  {
    name: 'the end of an ordered delivery does not let the next one go on',
    file: DELIVERY_ROWS,
    text: 'for (const row of ended) this.#advance(row);',
    replacement: '',
    needsFewMoves: true,
  },
  {
    name: 'a claim includes what waits behind a delivery of another instance',
    file: DELIVERY_ROWS,
    text: '({ webhookId, waiting }) => waiting === null && !exceptWebhooks.includes(webhookId),',
    replacement: '({ webhookId }) => !exceptWebhooks.includes(webhookId),',
  },
];

const RECORDING_FAULTS: readonly Omit<PlantedFault, 'protocol'>[] = [
  {
    name: 'a stop whose request was lost ends the recording as failed',
    file: `${RECORDINGS}/egress-state.ts`,
    text: 'if (hasAccepted) await applyStop(deps, recording, egress);',
    replacement: 'if (hasAccepted && recording.id === "") await applyStop(deps, recording, egress);',
  },
  {
    name: 'an egress whose start came too late is not stopped',
    file: `${RECORDINGS}/abandoned-starts.ts`,
    text: 'for (const { egressId } of created) await stopQuietly(deps, egressId);',
    replacement: '',
  },
  {
    name: 'a start that was given up counts as over while its egress may still begin',
    file: `${RECORDINGS}/abandoned-starts.ts`,
    text: 'if (isTooLate && created.length === 0)',
    replacement: 'if (isTooLate || created.length === 0)',
  },
  {
    name: 'the claims of dead instances are not given up',
    file: `${RECORDINGS}/abandoned-starts.ts`,
    text: 'if (hasClaimRunOut(recording, deps.clock.now())) await giveUpAbandonedStart(deps, recording);',
    replacement: '',
  },
  {
    name: 'a recorder that died counts as recording',
    file: `${RECORDINGS}/egress-state.ts`,
    text: `if (error instanceof ServiceError && error.code === 'participant-not-found') return false;`,
    replacement: `if (error instanceof ServiceError && error.code === 'participant-not-found') return true;`,
  },
  {
    name: 'a recording that was stopped is not stopped again',
    file: `${RECORDINGS}/egress-state.ts`,
    text: 'if (!hasPassed(STOP_AGAIN_AFTER_MS, { since, now: deps.clock.now() })) return;',
    replacement: 'if (since > 0) return;',
  },
  {
    name: 'ends that LiveKit does not report are not published',
    file: `${RECORDINGS}/reconcile-recordings.ts`,
    text: 'if (recent.length === 0) return;',
    replacement: 'if (recent.length >= 0) return;',
  },
  {
    name: 'a change overwrites the change of another instance',
    file: RECORDING_ROWS,
    text: 'if (!this.#isSame(recording)) return undefined;',
    replacement: '',
  },
  {
    name: 'a room is claimed although it is recorded',
    file: RECORDING_ROWS,
    text: 'if (active !== undefined && !mayTakeOver)',
    replacement: 'if (active !== undefined && active.id === claim.id && !mayTakeOver)',
    needsFewMoves: true,
  },
];

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...RECORDING_FAULTS.map((fault) => ({ protocol: 'recordings' as const, ...fault })),
  ...DELIVERY_FAULTS.map((fault) => ({ protocol: 'deliveries' as const, ...fault })),
];
