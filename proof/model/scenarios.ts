import {
  exploredRecordings,
  RECORDING_SCENARIOS,
} from '../../test/server/recordings/simulation/explored-recordings.ts';
import {
  DELIVERY_SCENARIOS,
  exploredDeliveries,
} from '../../test/server/webhooks/simulation/explored-deliveries.ts';
import type { Chooser } from '../../test/support/simulation/decisions.ts';
import type { Explorable } from '../../test/support/simulation/explore.ts';

type Protocol = 'recordings' | 'deliveries';

export type Scenario = {
  readonly protocol: Protocol;
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
