import type { Chooser } from '../../../support/simulation/decisions.ts';
import type { Explorable, Move } from '../../../support/simulation/explore.ts';
import { ExploredSchedule } from '../../../support/simulation/explored-schedule.ts';
import { broken, endInPeace } from './simulate.ts';
import { createInstance, type SimulatedInstance } from './simulated-instance.ts';
import { SimulatedRecorders } from './simulated-recorders.ts';
import { SimulatedDatabase } from './simulated-store.ts';
import { wrongIn } from './wrong-in.ts';

const NOW = 1_700_000_000_000;

type Operation = 'start' | 'stop' | 'reconcile' | 'hear';

/** The operations and faults of one room. The search tries all times and orders of them. */
export type RecordingScenario = {
  readonly name: string;
  /** Operations of each instance, one after the other. A run may end before the last ones have begun. */
  readonly programs: Readonly<Record<string, readonly Operation[]>>;
  /** Maximum number of faults: lost requests and responses, and recorders that are late, refuse or die. */
  readonly faults: number;
  /** Maximum number of instances that are killed in the middle of an operation. */
  readonly crashes: number;
  /** The clock may be set forward by each of these once, in this order. */
  readonly passes: readonly number[];
};

/** The claim of an instance that died has run out. */
const CLAIM_HAS_RUN_OUT_MS = 61_000;
export const RECORDING_SCENARIOS: readonly RecordingScenario[] = [
  {
    name: 'two instances start at once, with a fault',
    programs: { one: ['start'], two: ['start'] },
    faults: 1,
    crashes: 0,
    passes: [],
  },
  {
    name: 'an instance is killed while it starts, and the next start takes over',
    programs: { one: ['start'], two: ['start'] },
    faults: 0,
    crashes: 1,
    passes: [CLAIM_HAS_RUN_OUT_MS],
  },
  {
    name: 'an instance is killed while it starts, and a comparison takes over',
    programs: { one: ['start'], two: ['reconcile', 'start'] },
    faults: 0,
    crashes: 1,
    passes: [CLAIM_HAS_RUN_OUT_MS],
  },
  {
    name: 'an instance is killed while it starts, and LiveKit tells of its recorder before or after a comparison',
    programs: { one: ['start'], two: ['reconcile'], livekit: ['hear'] },
    faults: 0,
    crashes: 1,
    passes: [CLAIM_HAS_RUN_OUT_MS],
  },
  {
    name: 'an instance stands still while it starts, and two others take over at once',
    programs: { one: ['start'], two: ['reconcile'], three: ['start'] },
    faults: 0,
    crashes: 0,
    passes: [CLAIM_HAS_RUN_OUT_MS],
  },
  {
    name: 'a recording is stopped while another instance reconciles, and LiveKit reports the end twice, late or never',
    programs: { one: ['start', 'stop'], two: ['reconcile'], livekit: ['hear', 'hear'] },
    faults: 0,
    crashes: 0,
    passes: [],
  },
  {
    name: 'two instances stop at once, with a fault',
    programs: { one: ['start', 'stop'], two: ['stop'], livekit: ['hear'] },
    faults: 1,
    crashes: 0,
    passes: [],
  },
];

/** The real code of some instances in one scenario, for `explore`. */
export function exploredRecordings(scenario: RecordingScenario, chooser: Chooser): Explorable {
  const schedule = new ExploredSchedule(chooser, NOW, scenario.faults);
  const database = new SimulatedDatabase(schedule);
  const recorders = new SimulatedRecorders(schedule);
  const world = { schedule, database, recorders };
  const actors = Object.entries(scenario.programs).map(
    ([name, program]) => new Actor(createInstance(name, world), [...program], schedule),
  );
  const passes = [...scenario.passes];
  let crashes = scenario.crashes;
  let isOver = false;
  const atWork = (): readonly Actor[] => actors.filter(({ name }) => schedule.isAtWork(name));
  const crash = ({ name }: Actor): Move => ({
    name: `${name} is killed`,
    isInterruption: true,
    run: () => {
      crashes -= 1;
      schedule.crash(name);
      schedule.end(name);
    },
  });
  const proceed: Move = {
    name: 'the media server goes on',
    run: () => {
      schedule.goOn('');
      recorders.proceed();
    },
  };
  const peace: Move = {
    name: 'peace',
    run: () => {
      isOver = true;
    },
  };
  return {
    state: () =>
      JSON.stringify([
        ...[
          [...database.rows.values()],
          [...database.publishedEnds],
          recorders.recorders,
          recorders.lateStarts,
        ],
        ...[schedule.state, crashes, passes, isOver, actors.map((actor) => actor.state)],
      ]),
    moves: () => {
      if (isOver) return [];
      return [
        ...schedule.turns(),
        ...actors.flatMap((actor) => actor.next),
        ...(recorders.canProceed(schedule) ? [proceed] : []),
        ...(atWork().length > 0 ? [] : [peace]),
        ...schedule.passing(passes),
        ...(crashes === 0 ? [] : atWork().map(crash)),
      ];
    },
    settle: () => schedule.settle(),
    wrong: () => broken(database),
    wrongAtEnd: async () => {
      schedule.endFaults();
      const violations = await endInPeace(
        world,
        actors.map(({ instance }) => instance),
      );
      return wrongIn({ database, recorders, violations });
    },
  };
}

class Actor {
  readonly name: string;
  readonly instance: SimulatedInstance;
  readonly #program: Operation[];
  readonly #schedule: ExploredSchedule;

  constructor(instance: SimulatedInstance, program: Operation[], schedule: ExploredSchedule) {
    this.name = instance.name;
    this.instance = instance;
    this.#program = program;
    this.#schedule = schedule;
  }

  /** The next operation, as soon as the one before it has ended. */
  get next(): readonly Move[] {
    const [operation] = this.#program;
    if (
      operation === undefined ||
      this.#schedule.isAtWork(this.name) ||
      this.#schedule.hasCrashed(this.name)
    ) {
      return [];
    }
    const { name: actor } = this;
    return [{ name: `${actor} begins to ${operation}`, actor, run: () => this.#begin(operation) }];
  }

  #begin(operation: Operation): void {
    this.#program.shift();
    this.#schedule.begin(this.name, operation);
    void this.instance[operation]().then(() => this.#schedule.end(this.name));
  }

  get state(): unknown {
    if (this.#schedule.hasCrashed(this.name)) return 'killed';
    return [this.#program.length, this.instance.idsGiven()];
  }
}
