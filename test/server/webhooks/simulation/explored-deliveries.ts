import type { WebhookOrdering } from '../../../../src/contract/webhooks.ts';
import type { Chooser } from '../../../support/simulation/decisions.ts';
import type { Explorable, Move } from '../../../support/simulation/explore.ts';
import { ExploredSchedule } from '../../../support/simulation/explored-schedule.ts';
import { brokenBy, overtakenBy } from './broken-by.ts';
import { bringToAnEnd, type Weather } from './simulate.ts';
import { SimulatedDeliveries } from './simulated-deliveries.ts';
import { createInstance, type Instance, makeEvent, NOW, pickWebhook } from './simulated-instance.ts';
import { SimulatedReceivers } from './simulated-receivers.ts';
import { wrongIn } from './wrong-in.ts';

/** Some events, and the faults while they are delivered. The search tries all times and orders of them. */
export type DeliveryScenario = {
  readonly name: string;
  readonly webhooks: readonly WebhookOrdering[];
  /** The instances that store the events, in turn. All are of one room. */
  readonly events: readonly string[];
  readonly instances: readonly string[];
  /** Maximum number of faults: lost statements, responses, notifications and requests, and refused requests. */
  readonly faults: number;
  readonly crashes: number;
  /** The clock may be set forward by each of these once, in this order; in calm weather only when nobody waits for a turn. */
  readonly passes: readonly number[];
  /** Decides which rules must hold at the end. In calm weather receivers respond shortly before the timeout. */
  readonly weather: Weather;
};

/** Outcomes are stored together after this time. */
const GATHER_MS = 50;
/** Leases of an instance that is dead or stands still have run out. */
const LEASE_HAS_RUN_OUT_MS = 13_000;
const RETRY_IS_DUE_MS = 5_100;
const RENEWAL_IS_DUE_MS = 4_000;

export const DELIVERY_SCENARIOS: readonly DeliveryScenario[] = [
  {
    name: 'two events of a room in order, and an instance that stands still beyond its lease',
    webhooks: ['room'],
    events: ['one', 'one'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 0,
    passes: [LEASE_HAS_RUN_OUT_MS],
    weather: 'storm',
  },
  {
    name: 'an instance that stands still beyond its leases, with a delivery that waits in its memory',
    webhooks: ['none'],
    events: ['one', 'one'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 0,
    passes: [LEASE_HAS_RUN_OUT_MS],
    weather: 'storm',
  },
  {
    name: 'an instance that claims again what it still sends',
    webhooks: ['none'],
    events: ['one', 'two'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 0,
    passes: [LEASE_HAS_RUN_OUT_MS],
    weather: 'storm',
  },
  {
    name: 'an instance that is killed, and another one that takes over',
    webhooks: ['room'],
    events: ['one', 'two'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 1,
    passes: [LEASE_HAS_RUN_OUT_MS],
    weather: 'storm',
  },
  {
    name: 'a fault of the database or the receiver, with a retry',
    webhooks: ['room'],
    events: ['one'],
    instances: ['one', 'two'],
    faults: 1,
    crashes: 0,
    passes: [RETRY_IS_DUE_MS],
    weather: 'storm',
  },
  {
    name: 'no fault at all: each delivery is sent once',
    webhooks: ['none', 'room'],
    events: ['one', 'two'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 0,
    passes: [GATHER_MS],
    weather: 'faulty-database',
  },
  {
    name: 'a receiver that refuses an event twice, with another one of the room behind it',
    webhooks: ['room'],
    events: ['one', 'one'],
    instances: ['one'],
    faults: 2,
    crashes: 0,
    passes: [RETRY_IS_DUE_MS],
    weather: 'storm',
  },
  {
    name: 'a parcel of two deliveries, whose instance stands still beyond its lease',
    webhooks: ['none', 'none'],
    events: ['one'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 0,
    passes: [LEASE_HAS_RUN_OUT_MS],
    weather: 'storm',
  },
  {
    name: 'a parcel of two deliveries, whose instance is killed',
    webhooks: ['none', 'none'],
    events: ['one'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 1,
    passes: [LEASE_HAS_RUN_OUT_MS],
    weather: 'storm',
  },
  {
    name: 'a parcel of two deliveries that is unpacked, with a fault of the database or the receiver',
    webhooks: ['none', 'none'],
    events: ['one'],
    instances: ['one'],
    faults: 1,
    crashes: 0,
    passes: [RENEWAL_IS_DUE_MS, GATHER_MS],
    weather: 'storm',
  },
  {
    name: 'a slow receiver, for which leases are renewed',
    webhooks: ['none'],
    events: ['one', 'one'],
    instances: ['one', 'two'],
    faults: 0,
    crashes: 0,
    passes: [RENEWAL_IS_DUE_MS, RENEWAL_IS_DUE_MS, RENEWAL_IS_DUE_MS, RENEWAL_IS_DUE_MS],
    weather: 'calm',
  },
];

/** The real dispatchers of some instances in one scenario, for `explore`. */
export function exploredDeliveries(scenario: DeliveryScenario, chooser: Chooser): Explorable {
  const schedule = new ExploredSchedule(chooser, NOW, scenario.faults);
  const webhooks = scenario.webhooks.map((ordering, index) => pickWebhook(index + 1, ordering));
  const deliveries = new SimulatedDeliveries(schedule, webhooks);
  const violations: string[] = [];
  const receivers = new SimulatedReceivers(schedule, {
    onSend: (request) =>
      violations.push(...brokenBy({ schedule, deliveries, receivers, toleranceMs: 0 }, request)),
    onAccept: (request) => violations.push(...overtakenBy({ deliveries, receivers }, request)),
  });
  const isCalm = scenario.weather === 'calm';
  deliveries.isPeaceful = isCalm;
  receivers.areSlow = isCalm;
  const world = { schedule, deliveries, receivers, webhooks };
  const instances = scenario.instances.map((name) => createInstance(name, world, 0));
  const left = {
    events: [...scenario.events],
    passes: [...scenario.passes],
    crashes: scenario.crashes,
    isOver: false,
  };
  const moves = (): readonly Move[] => [
    ...schedule.turns(),
    ...instances.flatMap((instance) => appendNext(instance)),
    ...(schedule.waiting.length > 0 || left.events.length > 0 ? [] : [peace]),
    ...(isCalm ? schedule.passingCalmly(left.passes) : schedule.passing(left.passes)),
    ...(left.crashes === 0 ? [] : living().map(kill)),
  ];
  const living = (): readonly Instance[] => instances.filter(({ name }) => !schedule.hasCrashed(name));
  const appendNext = (instance: Instance): readonly Move[] => {
    const { name } = instance;
    if (left.events[0] !== name || schedule.hasCrashed(name)) return [];
    const number = scenario.events.length - left.events.length + 1;
    const run = (): void => {
      left.events.shift();
      schedule.goOn(name);
      schedule.observe(name, `event ${number}`);
      instance.append(makeEvent(number, 'RM_1', { isFirst: number === 1, now: schedule.clock.now() }));
    };
    return [{ name: `${name} stores event ${number}`, actor: name, run }];
  };
  const kill = ({ name }: Instance): Move => ({
    name: `${name} is killed`,
    isInterruption: true,
    run: () => {
      left.crashes -= 1;
      schedule.crash(name);
      schedule.end(name);
    },
  });
  const peace: Move = {
    name: 'peace',
    run: () => {
      left.isOver = true;
    },
  };
  return {
    // The instances find nothing to do yet, and sleep.
    start: async () => {
      schedule.endFaults();
      while (schedule.isAnyoneWaiting) {
        schedule.takeAllTurns();
        await schedule.settle();
      }
      schedule.beginFaults();
      for (const { name } of instances) schedule.begin(name, 'run');
    },
    state: () => {
      const stored = [
        deliveries.all,
        [...deliveries.parcels.keys()],
        [...deliveries.events.keys()],
        [...deliveries.attempts],
      ];
      const crashed = instances.map(({ name }) => schedule.hasCrashed(name));
      return JSON.stringify([
        stored,
        [...deliveries.grants],
        receivers.requests,
        schedule.state,
        left,
        crashed,
      ]);
    },
    moves: () => (left.isOver ? [] : moves()),
    settle: () => schedule.settle(),
    wrong: () => violations,
    wrongAtEnd: async () => {
      schedule.endFaults();
      await bringToAnEnd(world, instances);
      for (const { name } of instances) schedule.crash(name);
      return wrongIn({ deliveries, receivers, violations, weather: scenario.weather });
    },
    leave: () => {
      for (const { name, dispatcher } of instances) {
        schedule.crash(name);
        void dispatcher.close();
      }
    },
  };
}
