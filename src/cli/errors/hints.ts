import type { ClientErrorCode, RtcError } from '../../client/rtc-error.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { Hint } from '../../contract/hint.ts';
import { shellQuote } from '../../contract/shell-quote.ts';
import { SEE_HELP } from './cli-error.ts';

type Step = (error: RtcError, nowMs: number) => string | undefined;

/** Returns the next step after a failed call, in one line. */
export function hintFor(error: RtcError, nowMs: number): string | undefined {
  const { hint } = error;
  if (hint !== undefined) return hintLine(hint);
  const step = HINT_OF_ERROR[error.code];
  return typeof step === 'string' ? step : step(error, nowMs);
}

export function hintLine({ text, command }: Hint): string {
  return command === undefined ? text : `${text}: ${command}`;
}

/** "your clock is 412 s behind the server's"; `aheadBySeconds` may be negative. */
export function describeSkew(aheadBySeconds: number): string {
  return `your clock is ${Math.abs(aheadBySeconds)} s ${aheadBySeconds > 0 ? 'ahead of' : 'behind'} the server's`;
}

/** `rtc participants list <room>` with the room of the request, quoted for a shell if necessary. */
const inRoom =
  (text: string, command: string): Step =>
  (error) =>
    `${text}: ${command} ${readRoomId(error.path)}`;

function readRoomId(path: string): string {
  return segmentAfter(path, 'rooms') ?? 'ROOM';
}

function readId(path: string, collection: 'recordings' | 'webhooks'): string {
  return segmentAfter(path, collection) ?? 'ID';
}

/** `demo` of `/v1/rooms/demo/recording`, quoted for a shell if necessary. */
function segmentAfter(path: string, collection: string): string | undefined {
  const [, version, name, encoded] = path.split('?', 1)[0]?.split('/') ?? [];
  if (version !== 'v1' || name !== collection || encoded === undefined || encoded === '') return undefined;
  try {
    return shellQuote(decodeURIComponent(encoded));
  } catch {
    // rtc api sends a path as it was typed.
    return undefined;
  }
}

const LOG_HAS_IT = "look up the request id in the service's log";
const HELP = SEE_HELP;
const LIST_ROOMS = 'see which rooms are open: rtc rooms list';

const clockStep: Step = (error, nowMs) => {
  if (error.serverTime === undefined) return 'compare your clock with the server’s (rtc doctor)';
  const ahead = Math.round(nowMs / 1000) - error.serverTime;
  return `${describeSkew(ahead)}; correct it (NTP)`;
};

const retryStep: Step = (error) =>
  error.retryAfterSeconds === undefined
    ? 'try again in a moment'
    : `try again in ${error.retryAfterSeconds} s`;

const HINT_OF_ERROR: Readonly<Record<ErrorCode | ClientErrorCode, string | Step>> = {
  'invalid-request': HELP,
  'missing-credentials': 'run: rtc profile add NAME, or set RTC_API_KEY and RTC_API_SECRET',
  'invalid-api-key': "compare the API key with the service's API_KEY: rtc profile show",
  'timestamp-out-of-window': clockStep,
  'invalid-signature': "compare it with the service's API_SECRET; behind a proxy, see BASE_PATH",
  'insufficient-scope': 'see what the key may do: rtc keys get; the root key makes others: rtc keys create',
  'participant-blocked': 'see who is blocked: rtc blocks list ROOM',
  'room-not-found': LIST_ROOMS,
  'participant-not-found': inRoom('list the participants', 'rtc participants list'),
  'block-not-found': inRoom('see who is blocked', 'rtc blocks list'),
  'track-not-found': inRoom("see everybody's tracks", 'rtc participants list --json identity,tracks'),
  'session-not-found': 'list them: rtc sessions list',
  'recording-not-found': 'list them: rtc recordings list',
  'recording-file-not-found': (error) =>
    `look at its status and error: rtc recordings get ${readId(error.path, 'recordings')}`,
  'no-active-recording': inRoom('start one', 'rtc recordings start'),
  'broadcast-not-found': 'list them: rtc broadcast list',
  'no-active-broadcast': inRoom('see how the last one ended', 'rtc broadcast status'),
  'ingress-not-found': inRoom('list them', 'rtc ingress list'),
  'transcription-not-found': (error) =>
    error.path.startsWith('/v1/rooms/')
      ? `start one: rtc transcription start ${readRoomId(error.path)}; after its end, get reads it`
      : 'list them: rtc transcriptions list',
  'plan-not-found': 'list them: rtc plans list',
  'waiting-not-found': (error) => `see who waits: rtc rooms waiting ${readRoomId(error.path)}`,
  'webhook-not-found': 'list them: rtc webhooks list',
  'delivery-not-found': (error) => `list them: rtc webhooks deliveries ${readId(error.path, 'webhooks')}`,
  'key-not-found': 'list them: rtc keys list',
  'route-not-found': 'the service may be older than this rtc, or its URL wrong: rtc doctor',
  'method-not-allowed': HELP,
  'request-timeout': retryStep,
  conflict: 'look at its state, then try again',
  'idempotency-in-progress': 'the same request is still running; try again in a moment',
  'idempotency-key-reused': 'send another Idempotency-Key with another request',
  'room-closed': 'open it again: rtc rooms create ROOM; rtc rooms closed lists such rooms',
  'room-not-open-yet': 'ask again when it opens; rtc plans list shows the plans',
  'waiting-room-full': 'admit or deny some of them first: rtc rooms waiting ROOM',
  'webhook-limit-reached':
    "delete webhooks that you do not need (rtc webhooks list, rtc webhooks delete ID), or raise the service's MAX_WEBHOOKS",
  'key-limit-reached':
    "delete what you do not need (rtc keys get shows the limits), or raise the service's limits for each key",
  'recording-not-finished':
    'stop it if it is recording (rtc recordings stop ROOM); otherwise its file will be complete in a moment',
  'payload-too-large': "send less, or raise the service's BODY_LIMIT",
  'uri-too-long': 'use a shorter name',
  'unsupported-media-type': 'the body must be JSON',
  'headers-too-large': 'a proxy in between adds headers: try without it',
  'range-not-satisfiable': 'download it again',
  'precondition-failed': 'download it again',
  'rate-limited': retryStep,
  'server-busy': retryStep,
  'transfer-coding-unknown': 'a proxy in between changes the request: try without it',
  'internal-error': LOG_HAS_IT,
  'media-server-error': "check the service's LIVEKIT_URL and its key: rtc doctor",
  'recording-storage-error': "check the service's S3_ settings, or RECORDING_DIR",
  'media-server-unavailable': 'check that the media server runs: rtc doctor',
  'media-worker-unavailable': (error) => {
    const worker = error.path.includes('/ingress') ? 'ingress worker' : 'recorder (egress)';
    return `start the ${worker}, on the Redis of the media server; rtc doctor --probe tries it`;
  },
  'addon-unavailable': 'start a worker of that add-on: rtc worker stt-live, or stt-post',
  'shutting-down': retryStep,
  'storage-unavailable': 'check the database and the disk of the service: rtc doctor',
  'secret-unavailable': 'give all instances the same ENCRYPTION_KEY: rtc doctor',
  unreachable: 'is the service running, and is this its address? rtc doctor checks the whole set-up',
  'timed-out': 'try again, or wait longer with --request-timeout; rtc doctor checks the whole set-up',
  aborted: () => undefined,
  'unexpected-answer': 'a proxy in between, or a wrong URL: rtc doctor, or --debug to see the response',
  'answer-too-large': 'ask for less',
};
