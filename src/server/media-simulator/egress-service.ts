import {
  type EgressInfo,
  EgressStatus,
  ListEgressRequest,
  ListEgressResponse,
  RoomCompositeEgressRequest,
  StopEgressRequest,
} from '@livekit/protocol';
import { ensureGrant } from './access.ts';
import { fileOutput, isOver, type Recorders, UnsupportedOutput } from './recorders.ts';
import type { Rooms } from './rooms.ts';
import type { World } from './settings.ts';
import { type TwirpService, twirpMethod, unimplemented } from './twirp.ts';
import { innerFailure, TwirpFailure } from './twirp-error.ts';

/** livekit.Egress: the room composite with a file output; other kinds of egress are not there. */
export function egressService(world: World, rooms: Rooms, recorders: Recorders): TwirpService {
  return {
    ...MISSING,
    StartRoomCompositeEgress: twirpMethod(RoomCompositeEgressRequest, async (request, access) => {
      ensureGrant(access, 'roomRecord');
      if (rooms.find(request.roomName) === undefined) {
        throw innerFailure('not_found', 'requested room does not exist');
      }
      ensureSupported(request);
      await findRecorder(world);
      const info = recorders.start(request);
      await world.clock.sleep(world.timings.answerMs, world.closing);
      return info;
    }),
    ListEgress: twirpMethod(ListEgressRequest, (request, access) => {
      ensureGrant(access, 'roomRecord');
      if (world.faults().redis === 'absent') throw noRedis();
      return new ListEgressResponse({ items: findEgress(request, recorders) });
    }),
    StopEgress: twirpMethod(StopEgressRequest, ({ egressId }, access) => {
      ensureGrant(access, 'roomRecord');
      return stop(egressId, world, recorders);
    }),
  };
}

const MISSING: TwirpService = Object.fromEntries(
  [
    'StartEgress',
    'StartWebEgress',
    'StartParticipantEgress',
    'StartTrackCompositeEgress',
    'StartTrackEgress',
    'UpdateLayout',
    'UpdateStream',
  ].map((method) => [method, unimplemented(method)]),
);

/** Without Redis a start is treated like one that no recorder takes; only the other calls name Redis. */
async function findRecorder({ clock, closing, timings, faults }: World): Promise<void> {
  const { redis, recorder } = faults();
  if (redis === 'absent' || recorder === 'absent') {
    await clock.sleep(timings.noRecorderMs, closing);
    throw innerFailure('unavailable', 'no response from servers');
  }
  await clock.sleep(recorder === 'slow' ? timings.slowStartMs : timings.startMs, closing);
}

function findEgress(request: ListEgressRequest, recorders: Recorders): EgressInfo[] {
  if (request.egressId !== '') {
    const run = recorders.find(request.egressId);
    if (run === undefined) throw innerFailure('not_found', 'egress does not exist');
    return [run.info];
  }
  return recorders
    .list()
    .filter(({ roomName }) => request.roomName === '' || roomName === request.roomName)
    .filter((info) => !request.active || !isOver(info));
}

/** What no living recorder answers is looked up when the wait is over. */
async function stop(egressId: string, world: World, recorders: Recorders): Promise<EgressInfo> {
  const run = recorders.find(egressId);
  const isReachable = world.faults().redis === 'present' && run !== undefined && !run.isDead;
  if (isReachable && !isOver(run.info)) {
    recorders.stop(run);
    return run.info;
  }
  await world.clock.sleep(world.timings.noResponseMs, world.closing);
  if (world.faults().redis === 'absent') throw noRedis();
  if (run === undefined) throw innerFailure('not_found', 'egress does not exist');
  if (run.info.status < EgressStatus.EGRESS_ENDING)
    throw innerFailure('deadline_exceeded', 'request timed out');
  const status = EgressStatus[run.info.status];
  throw new TwirpFailure('failed_precondition', `egress with status ${status} cannot be stopped`);
}

function noRedis(): TwirpFailure {
  return innerFailure('internal', 'egress not connected (redis required)');
}

function ensureSupported(request: RoomCompositeEgressRequest): void {
  try {
    fileOutput(request);
  } catch (error) {
    if (!(error instanceof UnsupportedOutput)) throw error;
    throw innerFailure('invalid_argument', error.message);
  }
}
