import {
  DataPacket_Kind,
  EncodedFileOutput,
  EncodedFileType,
  type EncodedOutputs,
  EncodingOptions,
  EncodingOptionsPreset,
  IngressInput,
  type RoomCompositeOptions,
  S3Upload,
  SegmentedFileOutput,
  StreamOutput,
  StreamProtocol,
  WebhookConfig,
} from 'livekit-server-sdk';
import type { RecordingPreset } from '../../../contract/choices.ts';
import { type ErrorCode, ServiceError } from '../../../contract/errors.ts';
import type { Log } from '../log.ts';
import { createClients, type LivekitClients, type Timeouts, toHttpUrl } from './clients.ts';
import { type FailedCall, isNoResponse, isNotFound, toServiceError, withConnectionCheck } from './errors.ts';
import type { MediaClock } from './media-clock.ts';
import {
  type BucketSettings,
  type EgressFilter,
  type MediaServer,
  type ParticipantChange,
  type RoomCompositeRequest,
  readRecords,
} from './media-server.ts';
import { toEgress, toIngress, toParticipant, toPermission, toRoom } from './records.ts';

/** One call of the media server's API, for metrics. */
export type LivekitCall = {
  readonly method: string;
  readonly outcome: 'ok' | ErrorCode;
  readonly durationMs: number;
};

export type LivekitMediaServerSettings = {
  /** URL with ws, wss, http or https. */
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly timeouts?: Partial<Timeouts & { readonly connectMs: number }>;
  readonly log?: Log;
  readonly onCall?: ((call: LivekitCall) => void) | undefined;
  /** Unix time in milliseconds, for the age of tokens. */
  readonly now?: () => number;
  readonly mediaClock?: Pick<MediaClock, 'observeResponse'>;
};

/** Ten seconds is the SDK's default. A start takes longer than LiveKit's search for a recorder, which takes 24 s. */
const TIMEOUTS = { callMs: 10_000, startMs: 40_000, connectMs: 2_000 } as const;

/**
 * A LiveKit server, used by its API (https://docs.livekit.io/reference/server/server-apis/). Calls reject with the errors
 * that MediaServer documents, and are never repeated here, because only callers know whether that is safe.
 */
export function createLivekitMediaServer(settings: LivekitMediaServerSettings): MediaServer {
  const timeouts = { ...TIMEOUTS, ...settings.timeouts };
  const now = settings.now ?? Date.now;
  const clients = createClients({ ...settings, timeouts, now });
  const caller = createCaller({ ...settings, timeouts });
  return {
    ...roomMethods(clients, caller),
    ...participantMethods(clients, caller),
    ...egressMethods(clients, caller, settings.apiKey),
    ...ingressMethods(clients, caller),
    // The connections of fetch belong to the whole process, and close by themselves after 4 s.
    close: clients.close,
  };
}

type Meaning = Pick<FailedCall, 'notFound' | 'worker'>;

type Caller = <T>(method: string, meaning: Meaning, call: () => Promise<T>) => Promise<T>;

type CallerSettings = LivekitMediaServerSettings & {
  readonly timeouts: Timeouts & { readonly connectMs: number };
};

/** Measures a call, checks the connection during the call, and translates its error. */
function createCaller({ url, timeouts, log, onCall }: CallerSettings): Caller {
  const check = { url: toHttpUrl(url), connectMs: timeouts.connectMs };
  return async (method, meaning, call) => {
    const startedAt = performance.now();
    const report = (outcome: 'ok' | ErrorCode) =>
      onCall?.({ method, outcome, durationMs: performance.now() - startedAt });
    try {
      const result = await withConnectionCheck(check, call());
      report('ok');
      return result;
    } catch (error) {
      const timeoutMs = method === 'startRoomComposite' ? timeouts.startMs : timeouts.callMs;
      const failure = toServiceError(error, { method, timeoutMs, ...meaning });
      report(failure.code);
      if (failure.status >= 500) logFailure(log, method, failure);
      throw failure;
    }
  };
}

function logFailure(log: Log | undefined, method: string, failure: ServiceError): void {
  const reason = failure.cause instanceof Error ? failure.cause.message : undefined;
  log?.warn({ method, code: failure.code, detail: failure.message, reason }, 'media server call failed');
}

function roomMethods({ rooms, listRooms, listDispatch }: LivekitClients, caller: Caller) {
  const roomNotFound = { notFound: 'room-not-found' } as const;
  return {
    createRoom: ({ name, maxParticipants, emptyTimeout, departureTimeout, metadata }) =>
      caller('createRoom', roomNotFound, async () =>
        toRoom(
          await rooms.createRoom({
            name,
            ...(maxParticipants !== undefined && { maxParticipants }),
            ...(emptyTimeout !== undefined && { emptyTimeout }),
            ...(departureTimeout !== undefined && { departureTimeout }),
            ...(metadata !== undefined && { metadata }),
          }),
        ),
      ),
    listRooms: (names) =>
      caller('listRooms', {}, async () => {
        // For LiveKit, an empty list of names means no filter.
        if (names?.length === 0) return [];
        return await listRooms(names ?? []);
      }),
    deleteRoom: (room) => caller('deleteRoom', roomNotFound, () => rooms.deleteRoom(room)),
    // listDispatch is the only request about a room that the room's process responds to without changing anything.
    isRoomServed: (room) => caller('isRoomServed', {}, () => getsResponse(listDispatch(room))),
    updateRoomMetadata: (room, metadata) =>
      caller('updateRoomMetadata', roomNotFound, async () =>
        toRoom(await rooms.updateRoomMetadata(room, metadata)),
      ),
    sendData: (room, { data, kind, topic, identities }) =>
      caller('sendData', roomNotFound, () =>
        rooms.sendData(room, data, DATA_KINDS[kind], {
          destinationIdentities: [...identities],
          ...(topic !== undefined && { topic }),
        }),
      ),
  } satisfies Partial<MediaServer>;
}

const DATA_KINDS = { reliable: DataPacket_Kind.RELIABLE, lossy: DataPacket_Kind.LOSSY } as const;

async function getsResponse(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (isNoResponse(error)) return false;
    throw error;
  }
}

/** Asks about a person. The process of the room may respond that somebody who is leaving is not there. */
async function isHeld(call: Promise<unknown>): Promise<boolean> {
  try {
    return await getsResponse(call);
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** A sid that no track has. */
const NO_TRACK = 'TR_none';

function participantMethods(
  { rooms, listParticipants, getParticipant, removeParticipant }: LivekitClients,
  caller: Caller,
) {
  const participantNotFound = { notFound: 'participant-not-found' } as const;
  const trackNotFound = { notFound: 'track-not-found' } as const;
  return {
    listParticipants: (room) =>
      caller('listParticipants', {}, async () => await readRecords(await listParticipants(room))),
    listParticipantEntries: (room) => caller('listParticipants', {}, () => listParticipants(room)),
    getParticipant: (room, identity) =>
      caller('getParticipant', participantNotFound, async () =>
        toParticipant(await getParticipant(room, identity)),
      ),
    // The process of a participant responds to a mute of an unknown track, and does nothing.
    isParticipantServed: (room, identity) =>
      caller('isParticipantServed', {}, () =>
        isHeld(rooms.mutePublishedTrack(room, identity, NO_TRACK, true)),
      ),
    removeParticipant: (room, identity) =>
      caller('removeParticipant', participantNotFound, () => removeParticipant(room, identity)),
    updateParticipant: (room, identity, change) =>
      caller('updateParticipant', participantNotFound, async () =>
        toParticipant(await rooms.updateParticipant(room, identity, toUpdateOptions(change))),
      ),
    muteTrack: (...target) => caller('muteTrack', trackNotFound, () => setMuted(rooms, target, 'muted')),
    unmuteTrack: (...target) =>
      caller('unmuteTrack', trackNotFound, () => setMuted(rooms, target, 'unmuted')),
  } satisfies Partial<MediaServer>;
}

async function setMuted(
  rooms: LivekitClients['rooms'],
  [room, identity, trackSid]: Parameters<MediaServer['muteTrack']>,
  state: 'muted' | 'unmuted',
): Promise<void> {
  // For an unknown sid LiveKit responds 200 without a track, contrary to the SDK's type.
  const track: unknown = await rooms.mutePublishedTrack(room, identity, trackSid, state === 'muted');
  if (track === undefined) {
    throw new ServiceError('track-not-found', `The participant publishes no track "${trackSid}".`);
  }
}

function toUpdateOptions({ name, metadata, attributes, permission }: ParticipantChange) {
  return {
    ...(name !== undefined && { name }),
    ...(metadata !== undefined && { metadata }),
    ...(attributes !== undefined && { attributes: { ...attributes } }),
    ...(permission !== undefined && { permission: toPermission(permission) }),
  };
}

function egressMethods({ egress, egressStart }: LivekitClients, caller: Caller, apiKey: string) {
  const worker = 'recorder';
  return {
    startRoomComposite: (request) =>
      caller('startRoomComposite', { notFound: 'room-not-found', worker }, async () => {
        const output = request.broadcast === undefined ? { file: toFileOutput(request) } : toOutputs(request);
        const options = toRoomCompositeOptions(request, apiKey);
        return toEgress(await egressStart.startRoomCompositeEgress(request.room, output, options));
      }),
    stopEgress: (egressId) =>
      caller('stopEgress', { notFound: 'recording-not-found', worker }, async () =>
        toEgress(await egress.stopEgress(egressId)),
      ),
    updateStream: (egressId, { add, remove }) =>
      caller('updateStream', { notFound: 'recording-not-found', worker }, async () =>
        toEgress(await egress.updateStream(egressId, [...add], [...remove])),
      ),
    listEgress: (filter) =>
      caller('listEgress', { notFound: 'recording-not-found', worker }, async () =>
        (await egress.listEgress(toListOptions(filter))).map(toEgress),
      ).catch(emptyIfUnknown),
  } satisfies Partial<MediaServer>;
}

function toListOptions(filter: EgressFilter) {
  if ('egressId' in filter) return { egressId: filter.egressId };
  return { roomName: filter.room, active: filter.active ?? false };
}

const NOT_FOUND: ReadonlySet<string> = new Set<ErrorCode>(['recording-not-found', 'ingress-not-found']);

/** Returns an empty list for 404: a list by id is 404 when there is none, while a list by room is empty. */
function emptyIfUnknown(error: unknown): readonly never[] {
  if (error instanceof ServiceError && NOT_FOUND.has(error.code)) return [];
  throw error;
}

const INGRESS_INPUTS = { rtmp: IngressInput.RTMP_INPUT, whip: IngressInput.WHIP_INPUT } as const;

function ingressMethods({ ingress }: LivekitClients, caller: Caller) {
  const worker = 'ingress service';
  return {
    createIngress: ({ type, room, participantIdentity, participantName }) =>
      caller('createIngress', { worker }, async () => {
        const options = { roomName: room, participantIdentity, participantName };
        return toIngress(await ingress.createIngress(INGRESS_INPUTS[type], options));
      }),
    listIngress: ({ ingressId, room }) =>
      caller('listIngress', { notFound: 'ingress-not-found', worker }, async () => {
        const filter = { ...(ingressId && { ingressId }), ...(room && { roomName: room }) };
        return (await ingress.listIngress(filter)).map(toIngress);
      }).catch(emptyIfUnknown),
    deleteIngress: (ingressId) =>
      caller('deleteIngress', { notFound: 'ingress-not-found', worker }, async () =>
        toIngress(await ingress.deleteIngress(ingressId)),
      ),
  } satisfies Partial<MediaServer>;
}

/** Requests one MP4 file, in the bucket or on the recorder's own file system. */
function toFileOutput(request: RoomCompositeRequest): EncodedFileOutput {
  return new EncodedFileOutput({
    fileType: EncodedFileType.MP4,
    filepath: request.filepath,
    // The recorder's JSON manifest next to the file would remain when a recording is deleted.
    disableManifest: true,
    ...(request.bucket !== undefined && { output: { case: 's3', value: toS3Upload(request.bucket) } }),
  });
}

function toOutputs({ filepath, bucket, broadcast }: RoomCompositeRequest): EncodedOutputs {
  const { urls = [], hls } = broadcast ?? {};
  const protocol = urls.some((url) => /^srt:/i.test(url)) ? StreamProtocol.SRT : StreamProtocol.RTMP;
  const stream = urls.length === 0 ? {} : { stream: new StreamOutput({ protocol, urls: [...urls] }) };
  if (hls === undefined) return stream;
  const folder = filepath.slice(0, filepath.lastIndexOf('/') + 1);
  const segments = new SegmentedFileOutput({
    filenamePrefix: `${folder}segment`,
    playlistName: filepath,
    livePlaylistName: hls.livePlaylist,
    segmentDuration: hls.segmentSeconds,
    disableManifest: true,
    ...(bucket !== undefined && { output: { case: 's3', value: toS3Upload(bucket) } }),
  });
  return { ...stream, segments };
}

/** `signingKey` is the name of one of the media server's keys, whose secret signs the events. */
function toRoomCompositeOptions(request: RoomCompositeRequest, apiKey: string): RoomCompositeOptions {
  const { webhookUrl, settings = {} } = request;
  const { layout, audioOnly, preset } = settings;
  return {
    ...(layout !== undefined && { layout }),
    ...(audioOnly !== undefined && { audioOnly }),
    ...(preset !== undefined && { encodingOptions: toEncodingOptions(preset) }),
    ...(webhookUrl !== undefined && {
      webhooks: [new WebhookConfig({ url: webhookUrl, signingKey: apiKey })],
    }),
  };
}

/**
 * H264_720P_30 is 0 in the protocol, which the SDK takes for no preset. Its options are written out, so that a recorder with
 * another default records what was requested.
 */
function toEncodingOptions(preset: RecordingPreset): EncodingOptions | EncodingOptionsPreset {
  if (preset !== 'H264_720P_30') return EncodingOptionsPreset[preset];
  return new EncodingOptions({ width: 1280, height: 720, framerate: 30, videoBitrate: 3000 });
}

function toS3Upload(bucket: BucketSettings): S3Upload {
  return new S3Upload({
    bucket: bucket.bucket,
    region: bucket.region,
    accessKey: bucket.accessKey ?? '',
    secret: bucket.secretKey ?? '',
    sessionToken: bucket.sessionToken ?? '',
    endpoint: bucket.endpoint ?? '',
    forcePathStyle: bucket.forcePathStyle,
  });
}
