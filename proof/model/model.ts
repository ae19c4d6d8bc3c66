import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { STEPS as RECORDING_STEPS, simulate } from '../../test/server/recordings/simulation/simulate.ts';
import { wrongIn } from '../../test/server/recordings/simulation/wrong-in.ts';
import { STEPS as DELIVERY_STEPS } from '../../test/server/webhooks/simulation/simulate.ts';
import { wrongInAll } from '../../test/server/webhooks/simulation/wrong-in.ts';
import { compareStates } from '../../test/support/simulation/compare-states.ts';
import { type Exploration, explore } from '../../test/support/simulation/explore.ts';
import type { Experiment, ExperimentContext, Findings, RunSize } from '../experiment.ts';
import { atLeast, exactly, type Figure, type Figures, observed } from '../figures.ts';
import { PLANTED_FAULTS, type PlantedFault } from './planted-faults.ts';
import { type FirstViolation, SCENARIOS } from './scenarios.ts';

/** The first seed of the random orders; the others follow it. */
const FIRST_SEED = 20_261_124;

/** Moves in random orders, of each of the two protocols. */
const RANDOM_MOVES = { long: 1_000_000, short: 3_000 } as const;

/** The larger scenarios need more moves: a part of their orders is tried. */
const MAX_MOVES = {
  recordings: { long: 3_000_000, short: 1_000 },
  deliveries: { long: 700_000, short: 1_000 },
} as const;

/** Moves of the search for a planted fault, in each scenario of its protocol. */
const MAX_PLANTED_MOVES = { long: 400_000, short: 20_000 } as const;

/** Runs of each scenario that look for states which seem equal and are not. */
const COMPARED_RUNS = { long: 2_000, short: 5 } as const;

const SEARCH = join(import.meta.dirname, 'search-planted.ts');

export const model: Experiment = { name: 'model', run: exploreAll };

async function exploreAll({ runSize, report }: ExperimentContext): Promise<Findings> {
  const explorations: Exploration[] = [];
  const figures: Figure[] = [];
  let compared = 0;
  const differing: string[] = [];
  for (const { name, protocol, create } of SCENARIOS) {
    const exploration = await explore(create, { maxSteps: MAX_MOVES[protocol][runSize] });
    report(`${name}: ${exploration.states} states, ${exploration.steps} moves, ${countOrders(exploration)}`);
    explorations.push(exploration);
    figures.push(...toFigures(name, exploration));
    const comparison = await compareStates(create, { runs: COMPARED_RUNS[runSize], seed: FIRST_SEED });
    compared += comparison.compared;
    differing.push(...comparison.differing);
    for (const wrong of [...exploration.violations, ...comparison.differing]) report(wrong);
  }
  const sum = (toNumber: (one: Exploration) => number): number =>
    explorations.reduce((total, one) => total + toNumber(one), 0);
  const planted = await findPlanted(runSize, report);
  const random = await wrongInRandomOrders(runSize);
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
        bound: runSize === 'long' ? 1_000_000 : 1,
      }),
      observed('moves from states that another random run had come to', compared),
      exactly('moves after which equal states were different', differing.length, 0),
      ...planted,
      observed('random orders: steps of recordings', RANDOM_MOVES[runSize]),
      observed('random orders: steps of deliveries', RANDOM_MOVES[runSize]),
      exactly('random orders: broken rules', random.length, 0),
    ],
    notes: [`The first seed of the random orders is ${FIRST_SEED}.`],
  };
}

function toFigures(name: string, exploration: Exploration): Figures {
  return [
    observed(`${name}: different states`, exploration.states),
    observed(`${name}: different ends`, exploration.ends),
    { name: `${name}: orders that were tried`, measured: countOrders(exploration) },
    exactly(`${name}: broken rules`, exploration.violations.length, 0),
  ];
}

function countOrders({ isComplete, interruptions }: Exploration): string {
  if (isComplete) return 'all';
  if (interruptions < 0) return 'some';
  return `all with up to ${interruptions} ${interruptions === 1 ? 'interruption' : 'interruptions'}`;
}

/** Searches for the planted faults. The short run only searches for those that few moves find. */
async function findPlanted(runSize: RunSize, report: ExperimentContext['report']): Promise<Figures> {
  const planted = PLANTED_FAULTS.filter(({ needsFewMoves }) => runSize === 'long' || needsFewMoves);
  let found = 0;
  let mostSteps = 0;
  for (const fault of planted) {
    const violation = await searchPlanted(fault, MAX_PLANTED_MOVES[runSize]);
    report(`${fault.name}: ${violation === undefined ? 'not found' : `${violation.steps} moves`}`);
    if (violation === undefined) continue;
    report(`  ${violation.violation} (${violation.scenario})`);
    found += 1;
    mostSteps = Math.max(mostSteps, violation.steps);
  }
  const name = 'planted faults that the search finds';
  const bound = planted.length;
  return [
    {
      name,
      measured: `${found} of ${bound}`,
      value: found,
      bound: `${bound} of ${bound}`,
      holds: found === bound,
    },
    observed('most moves until a planted fault was found', mostSteps),
  ];
}

async function wrongInRandomOrders(runSize: RunSize): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let run = 0; run < RANDOM_MOVES[runSize] / RECORDING_STEPS; run += 1) {
    const seed = FIRST_SEED + run;
    wrong.push(...wrongIn(await simulate(seed)).map((rule) => `recordings, seed ${seed}: ${rule}`));
  }
  return [...wrong, ...(await wrongInAll(FIRST_SEED, Math.ceil(RANDOM_MOVES[runSize] / DELIVERY_STEPS)))];
}

/**
 * Searches with the fault in the source, in a process of its own, with at most `maxSteps` moves in each scenario. Resolves to
 * undefined if no rule was broken.
 */
async function searchPlanted({ name }: PlantedFault, maxSteps: number): Promise<FirstViolation | undefined> {
  const { stdout } = await promisify(execFile)(process.execPath, [SEARCH, name, `${maxSteps}`]);
  return JSON.parse(stdout) ?? undefined;
}
