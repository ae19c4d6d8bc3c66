import {
  exploredRecordings,
  RECORDING_SCENARIOS,
} from '../../test/server/recordings/simulation/explored-recordings.ts';
import { STEPS as RECORDING_STEPS, simulate } from '../../test/server/recordings/simulation/simulate.ts';
import { wrongIn } from '../../test/server/recordings/simulation/wrong-in.ts';
import {
  DELIVERY_SCENARIOS,
  exploredDeliveries,
} from '../../test/server/webhooks/simulation/explored-deliveries.ts';
import { STEPS as DELIVERY_STEPS } from '../../test/server/webhooks/simulation/simulate.ts';
import { wrongInAll } from '../../test/server/webhooks/simulation/wrong-in.ts';
import type { Decisions } from '../../test/support/simulation/decisions.ts';
import { type Explorable, type Exploration, explore } from '../../test/support/simulation/explore.ts';
import {
  atLeast,
  exactly,
  type Figure,
  type Findings,
  type Form,
  observed,
  type ProofContext,
  type ProofPart,
} from '../part.ts';

/** The first seed of the random orders; the others follow it. */
const FIRST_SEED = 20_261_124;
/** Moves in random orders, of each of the two protocols. */
const RANDOM_MOVES = { long: 1_000_000, short: 3_000 } as const;
/** The larger scenarios need more moves: a part of their orders is tried. */
const MAX_MOVES = { long: 2_000_000, short: 2_000 } as const;

type Scenario = { readonly name: string; readonly create: (decisions: Decisions) => Explorable };

const SCENARIOS: readonly Scenario[] = [
  ...RECORDING_SCENARIOS.map((scenario) => ({
    name: `recordings, ${scenario.name}`,
    create: (decisions: Decisions) => exploredRecordings(scenario, decisions),
  })),
  ...DELIVERY_SCENARIOS.map((scenario) => ({
    name: `deliveries, ${scenario.name}`,
    create: (decisions: Decisions) => exploredDeliveries(scenario, decisions),
  })),
];

export const model: ProofPart = {
  name: 'model',
  title: 'All or millions of orders of small scenarios, and two million steps in random orders',
  claim:
    'Whatever the order in which instances, their database, LiveKit and receivers get their turns: a room has at most one recording, no recorder ' +
    'runs without a row and no row without a recorder, each end is published, each delivery is sent by the owner of its lease and reaches its ' +
    'receiver, and ordered webhooks get the events of a room in order.',
  attack: [
    'The real code of the instances runs on a simulated clock, database, LiveKit and receivers, in one process. Each statement and each request is ' +
      'a turn, and so is its response; an explorer decides who is next. Killing an instance in the middle of an operation, letting time pass (a ' +
      'lease or a claim runs out while its owner stands still), and losing a request or a response are moves like any other.',
    'The explorer tries every order of a scenario, depth first, or as many as two million moves reach. It leaves a run where it comes to a state that was seen before: the rows, the media ' +
      'server or the receivers, the clock, and everything that each instance has learned since it began. At the end of each run all faults end, and ' +
      'the instances that live go on until nothing is left to do; only then the rules about ends are checked.',
    'Random orders of longer runs follow, with more faults, four instances and clocks that differ. A seed decides each of them.',
  ],
  found: [
    'Where a stop was lost on its way, and the recorder accepted the stop of another caller and completed its file before the first one looked for ' +
      'it in the room, the recording was stored and published as failed, although its file was there. Only the event of LiveKit corrected it. The ' +
      'service looks at the egress once more now.',
  ],
  notClaimed: [
    'That a search which tries some orders finds every fault. A send without a look at the lease, put in by hand, is found by 29 of 2,000 random ' +
      'orders, and an order that does not stop at a refusal by 79; a million moves of the search do not find the first one.',
    'Larger scenarios: the explorer sees one or two operations of two or three instances, and one fault. Random orders see more, but not all.',
    'The SQL of the stores: the simulated rows follow it by hand. Chaos parts run it.',
    'That a fault at a place that is not a turn is harmless, such as one in the middle of a computation. Nothing outside can see it.',
  ],
  run: exploreAll,
};

async function exploreAll({ form, report }: ProofContext): Promise<Findings> {
  const explorations: Exploration[] = [];
  const figures: Figure[] = [];
  for (const { name, create } of SCENARIOS) {
    const exploration = await explore(create, { maxSteps: MAX_MOVES[form] });
    report(`${name}: ${exploration.states} states, ${exploration.steps} moves`);
    for (const violation of exploration.violations) report(violation);
    explorations.push(exploration);
    figures.push(...figuresOf(name, exploration));
  }
  const sum = (numberOf: (one: Exploration) => number): number =>
    explorations.reduce((total, one) => total + numberOf(one), 0);
  const random = await wrongInRandomOrders(form);
  for (const violation of random) report(violation);
  return {
    figures: [
      ...figures,
      observed(
        'different states of all scenarios',
        sum(({ states }) => states),
      ),
      atLeast({
        name: 'moves in all scenarios',
        measured: sum(({ steps }) => steps),
        bound: form === 'long' ? 1_000_000 : 1,
      }),
      observed('random orders: steps of recordings', RANDOM_MOVES[form]),
      observed('random orders: steps of deliveries', RANDOM_MOVES[form]),
      exactly('random orders: broken rules', random.length, 0),
    ],
    notes: [`The first seed of the random orders is ${FIRST_SEED}.`],
  };
}

function figuresOf(name: string, { states, ends, isComplete, violations }: Exploration): readonly Figure[] {
  return [
    observed(`${name}: different states`, states),
    observed(`${name}: different ends`, ends),
    { name: `${name}: orders that were tried`, measured: isComplete ? 'all' : 'some' },
    exactly(`${name}: broken rules`, violations.length, 0),
  ];
}

async function wrongInRandomOrders(form: Form): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let run = 0; run < RANDOM_MOVES[form] / RECORDING_STEPS; run += 1) {
    const seed = FIRST_SEED + run;
    wrong.push(...wrongIn(await simulate(seed)).map((rule) => `recordings, seed ${seed}: ${rule}`));
  }
  return [...wrong, ...(await wrongInAll(FIRST_SEED, Math.ceil(RANDOM_MOVES[form] / DELIVERY_STEPS)))];
}
