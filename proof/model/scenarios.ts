import {
  exploredRecordings,
  RECORDING_SCENARIOS,
} from '../../test/server/recordings/simulation/explored-recordings.ts';
import {
  DELIVERY_SCENARIOS,
  exploredDeliveries,
} from '../../test/server/webhooks/simulation/explored-deliveries.ts';
import type { Chooser } from '../../test/support/simulation/decisions.ts';
import { type Explorable, explore } from '../../test/support/simulation/explore.ts';
import type { PlantedFault } from './planted-faults.ts';

export type Scenario = {
  readonly protocol: PlantedFault['protocol'];
  readonly name: string;
  readonly create: (chooser: Chooser) => Explorable;
};

export const SCENARIOS: readonly Scenario[] = [
  ...RECORDING_SCENARIOS.map((scenario) => ({
    protocol: 'recordings' as const,
    name: `recordings, ${scenario.name}`,
    create: (chooser: Chooser) => exploredRecordings(scenario, chooser),
  })),
  ...DELIVERY_SCENARIOS.map((scenario) => ({
    protocol: 'deliveries' as const,
    name: `deliveries, ${scenario.name}`,
    create: (chooser: Chooser) => exploredDeliveries(scenario, chooser),
  })),
];

export type FirstViolation = {
  readonly scenario: string;
  readonly violation: string;
  /** Number of moves in all scenarios until the rule was broken. */
  readonly steps: number;
};

/** Few moves in each scenario find most faults, wherever they are. */
const SHARES = [1 / 16, 1 / 4, 1];

/** Searches the scenarios one after the other, in the end each with `maxSteps` moves, until a rule is broken. */
export async function firstViolation(
  protocol: PlantedFault['protocol'],
  maxSteps: number,
): Promise<FirstViolation | undefined> {
  let steps = 0;
  const scenarios = SCENARIOS.filter((each) => each.protocol === protocol);
  for (const share of SHARES) {
    for (const { name, create } of scenarios) {
      const exploration = await explore(create, { maxSteps: share * maxSteps, maxViolations: 1 });
      steps += exploration.steps;
      const [violation] = exploration.violations;
      if (violation !== undefined) return { scenario: name, violation, steps };
    }
  }
  return undefined;
}
