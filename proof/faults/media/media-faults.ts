import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { exactly, type Figures, named, observed } from '../../figures.ts';
import { type Ledger, mediaRefusals, otherFailures } from '../../support/callers.ts';
import { type FaultStage, type InjectedFault, injectFaults } from '../../support/faults.ts';
import { percentile } from '../../support/statistics.ts';
import { callStage, canUseRooms, type MediaStage, startMediaStage } from './media-stage.ts';

const SEED = 20_261_126;
const CALLERS = 8;
const PAUSE_MS = 30;
/** LiveKit places rooms on a node that died up to five seconds ago, as Redis still has it. */
const AWAY_SECONDS = { long: 20, short: 6 } as const;
export const mediaFaults: Experiment = { name: 'media-faults', run: injectMediaFaults };

async function injectMediaFaults(context: ExperimentContext): Promise<Findings> {
  const { runSize, report } = context;
  const stage = await startMediaStage(context, { connections: 2 * CALLERS });
  const calling = { random: new Random(SEED), callers: CALLERS, pauseMs: PAUSE_MS };
  const stages = await injectFaults(context, {
    faults: findFaults(stage, AWAY_SECONDS[runSize]),
    call: (name, seconds) => callStage(stage, { ...calling, name, seconds }, { report }),
    isWorking: () => canUseRooms(stage),
  });
  const returns = stages.flatMap(({ injected }) => {
    if (injected === undefined) return [];
    const name = `time until rooms can be created and listed ${injected.fault.after}`;
    return [observed(name, injected.recoveredMs, ' ms')];
  });
  return {
    figures: [...stages.flatMap(stageFigures), ...returns],
    versions: { LiveKit: livekitServerVersion },
    notes: [`Seed ${SEED}.`],
  };
}

function findFaults(stage: MediaStage, seconds: number): readonly InjectedFault[] {
  return [
    {
      ...{ name: 'while LiveKit is frozen', after: 'after LiveKit was thawed', seconds },
      begin: async () => {
        stage.livekit().freeze();
        return () => stage.livekit().thaw();
      },
    },
    {
      ...{ name: 'while LiveKit is gone', after: 'after LiveKit was started again', seconds },
      begin: async () => {
        await stage.livekit().kill();
        return stage.startLivekitAgain;
      },
    },
    {
      ...{ name: 'while Redis is gone', after: 'after Redis was started again', seconds },
      begin: async () => {
        await stage.killRedis();
        return stage.startRedisAgain;
      },
    },
  ];
}

function stageFigures({ name, seen, injected }: FaultStage<Ledger, InjectedFault>): Figures {
  const refused = mediaRefusals(seen).length;
  const refusals = 'requests refused with a problem for lack of LiveKit';
  return named(name, [
    observed('requests', seen.requests),
    injected === undefined ? exactly(refusals, refused, 0) : observed(refusals, refused),
    exactly('other failed requests', otherFailures(seen).length, 0),
    exactly('successful answers that were not true', seen.wrongSuccesses.length, 0),
    observed('slowest answer', Math.round(percentile(seen.timesMs, 1)), ' ms'),
  ]);
}
