import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { exactly, type Figure, observed } from '../../figures.ts';
import {
  callUntil,
  type Ledger,
  mediaRefusals,
  otherFailures,
  unexpectedLines,
} from '../../support/callers.ts';
import { percentile } from '../../support/statistics.ts';
import { callersOn, type MediaStage, startMediaStage, untilRooms } from './media-stage.ts';

const SEED = 20_261_126;
const CALLERS = 8;
const PAUSE_MS = 30;
const CALM_SECONDS = { long: 5, short: 1 } as const;
/** LiveKit places rooms on a node that died up to five seconds ago, as Redis still has it. */
const AWAY_SECONDS = { long: 20, short: 6 } as const;

export const mediaFaults: Experiment = { name: 'media-faults', run: injectMediaFaults };

type Stage = { readonly name: string; readonly ledger: Ledger };

async function injectMediaFaults(context: ExperimentContext): Promise<Findings> {
  const { runSize, report } = context;
  const stage = await startMediaStage(context, { connections: 2 * CALLERS });
  const random = new Random(SEED);
  const stages: Stage[] = [];
  const during = async (name: string, seconds: number): Promise<void> => {
    report(name);
    const signal = AbortSignal.timeout(seconds * 1000);
    const callers = callersOn(stage, { random, prefix: name });
    const ledger = await callUntil(signal, { ...callers, callers: CALLERS, pauseMs: PAUSE_MS });
    for (const line of unexpectedLines(ledger)) report(line);
    stages.push({ name, ledger });
  };
  await during('before the faults', CALM_SECONDS[runSize]);
  const returns: Figure[] = [];
  for (const { fault, returned, leave, comeBack } of findFaults(stage)) {
    await leave();
    await during(`while ${fault}`, AWAY_SECONDS[runSize]);
    await comeBack();
    const ms = await untilRooms(stage);
    returns.push(
      observed(`time until rooms can be created and listed after ${returned}`, Math.round(ms), ' ms'),
    );
    await during(`after ${returned}`, CALM_SECONDS[runSize]);
  }
  return {
    figures: [...stages.flatMap(stageFigures), ...returns],
    versions: { LiveKit: livekitServerVersion },
    notes: [`Seed ${SEED}.`],
  };
}

type Fault = {
  readonly fault: string;
  readonly returned: string;
  readonly leave: () => unknown;
  readonly comeBack: () => unknown;
};

function findFaults(stage: MediaStage): readonly Fault[] {
  return [
    {
      fault: 'LiveKit is frozen',
      returned: 'LiveKit was thawed',
      leave: () => stage.livekit().freeze(),
      comeBack: () => stage.livekit().thaw(),
    },
    {
      fault: 'LiveKit is gone',
      returned: 'LiveKit was started again',
      leave: () => stage.livekit().kill(),
      comeBack: stage.startLivekitAgain,
    },
    {
      fault: 'Redis is gone',
      returned: 'Redis was started again',
      leave: stage.killRedis,
      comeBack: stage.startRedisAgain,
    },
  ];
}

function stageFigures({ name, ledger }: Stage): readonly Figure[] {
  const refused = mediaRefusals(ledger).length;
  const refusals = `${name}: requests refused with a problem for lack of LiveKit`;
  return [
    observed(`${name}: requests`, ledger.requests),
    name.startsWith('while') ? observed(refusals, refused) : exactly(refusals, refused, 0),
    exactly(`${name}: other failed requests`, otherFailures(ledger).length, 0),
    exactly(`${name}: successful answers that were not true`, ledger.wrongSuccesses.length, 0),
    observed(`${name}: slowest answer`, Math.round(percentile(ledger.timesMs, 1)), ' ms'),
  ];
}
