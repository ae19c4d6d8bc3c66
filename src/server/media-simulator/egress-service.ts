import {
  type EgressInfo,
  EgressStatus,
  ListEgressRequest,
  ListEgressResponse,
  RoomCompositeEgressRequest,
  StopEgressRequest,
} from '@livekit/protocol';
import { fileOutput, isOver, type Recorders, UnsupportedOutputError } from './recorders.ts';
import type { Rooms } from './rooms.ts';
import type { SimulatorContext } from './settings.ts';
import {
  ensureGrant,
  psrpcError,
  TwirpError,
  type TwirpService,
  twirpMethod,
  unimplemented,
} from './twirp.ts';

/** Implements livekit.Egress for room composites with a file output; other kinds of egress are unimplemented. */
export function egressService(context: SimulatorContext, rooms: Rooms, recorders: Recorders): TwirpService {
  return {
    ...MISSING,
    StartRoomCompositeEgress: twirpMethod(RoomCompositeEgressRequest, async (request, access) => {
      ensureGrant(access, 'roomRecord');
      if (rooms.find(request.roomName) === undefined) {
        throw psrpcError('not_found', 'requested room does not exist');
      }
      ensureSupported(request);
      await findRecorder(context);
      const info = recorders.start(request);
      await context.clock.sleep(context.timings.startResponseMs, context.closing);
      return info;
    }),
    ListEgress: twirpMethod(ListEgressRequest, (request, access) => {
      ensureGrant(access, 'roomRecord');
      if (context.faults().redis === 'absent') throw noRedis();
      return new ListEgressResponse({ items: findEgress(request, recorders) });
    }),
    StopEgress: twirpMethod(StopEgressRequest, ({ egressId }, access) => {
      ensureGrant(access, 'roomRecord');
      return stop(egressId, context, recorders);
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

/** Finds a recorder. Without Redis a start fails as if there were no recorder; only the other calls mention Redis. */
async function findRecorder({ clock, closing, timings, faults }: SimulatorContext): Promise<void> {
  const { redis, recorder } = faults();
  if (redis === 'absent' || recorder === 'absent') {
    await clock.sleep(timings.noRecorderMs, closing);
    throw psrpcError('unavailable', 'no response from servers');
  }
  await clock.sleep(recorder === 'slow' ? timings.slowStartMs : timings.startMs, closing);
}

function findEgress(request: ListEgressRequest, recorders: Recorders): EgressInfo[] {
  if (request.egressId !== '') {
    const run = recorders.find(request.egressId);
    if (run === undefined) throw psrpcError('not_found', 'egress does not exist');
    return [run.info];
  }
  return recorders
    .list()
    .filter(({ roomName }) => request.roomName === '' || roomName === request.roomName)
    .filter((info) => !request.active || !isOver(info));
}

/** Stops an egress. When no living recorder responds, the egress is read after the time-out. */
async function stop(egressId: string, context: SimulatorContext, recorders: Recorders): Promise<EgressInfo> {
  const run = recorders.find(egressId);
  const isReachable = context.faults().redis === 'present' && run !== undefined && !run.isDead;
  if (isReachable && !isOver(run.info)) {
    recorders.stop(run);
    return run.info;
  }
  await context.clock.sleep(context.timings.noResponseMs, context.closing);
  if (context.faults().redis === 'absent') throw noRedis();
  if (run === undefined) throw psrpcError('not_found', 'egress does not exist');
  if (run.info.status < EgressStatus.EGRESS_ENDING)
    throw psrpcError('deadline_exceeded', 'request timed out');
  const status = EgressStatus[run.info.status];
  throw new TwirpError('failed_precondition', `egress with status ${status} cannot be stopped`);
}

function noRedis(): TwirpError {
  return psrpcError('internal', 'egress not connected (redis required)');
}

function ensureSupported(request: RoomCompositeEgressRequest): void {
  try {
    fileOutput(request);
  } catch (error) {
    if (!(error instanceof UnsupportedOutputError)) throw error;
    throw psrpcError('invalid_argument', error.message);
  }
}
