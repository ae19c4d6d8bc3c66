import type { Egress, EgressStream } from '../platform/livekit/media-server.ts';
import type { Recording } from './store.ts';

/*
 * The outputs of a broadcast: its URLs, each with a state of its own, and its HLS. The state of a URL:
 *
 *   connecting ──the receiver accepted──> active ──> failed    the receiver refused or closed, and the recorder gave up
 *        ^<──the receiver closed (`retries`)─┤
 *        └───────────────────────────────────┴────> removed   by a caller, while the broadcast goes on
 *                                            └────> ended     with the broadcast
 *
 * The encrypted URL is kept only as long as the recorder may be told to remove it.
 */

export type StreamState = 'connecting' | 'active' | 'failed' | 'removed' | 'ended';

export type Stream = {
  readonly id: string;
  /** Without its key. */
  readonly url: string;
  readonly fingerprint: string;
  /** Encrypted, bound to the id of the broadcast; null when it is not needed any more. */
  readonly sealed: string | null;
  readonly state: StreamState;
  /** When it came into this state. */
  readonly since: number;
  readonly error: string | null;
  readonly retries: number;
};

export type Hls = {
  readonly segmentSeconds: number;
  readonly playlist: string;
  readonly livePlaylist: string;
};

export type Outputs = { readonly hls: Hls | null; readonly streams: readonly Stream[] };

const NO_OUTPUTS: Outputs = { hls: null, streams: [] };

export function readOutputs({ outputs }: Pick<Recording, 'outputs'>): Outputs {
  return outputs === null ? NO_OUTPUTS : (JSON.parse(outputs) as Outputs);
}

export function writeOutputs(outputs: Outputs): string {
  return JSON.stringify(outputs);
}

export function isOpen({ state }: Stream): boolean {
  return state === 'connecting' || state === 'active';
}

/** A URL that the recorder does not list so long after it was added was lost on the way to it. */
const UNKNOWN_AFTER_MS = 60_000;

/**
 * Returns whether the receiver closed and the recorder connects again. LiveKit tells how often, but not whether it succeeded.
 */
export function isConnectingAgain({ state, retries }: Pick<Stream, 'state' | 'retries'>): boolean {
  return state === 'connecting' && retries > 0;
}

type StreamsReport = {
  readonly egress: Pick<Egress, 'streams' | 'status'>;
  readonly at: number;
  /** The recorder works, and has told by itself how often it has connected again since it was asked before. */
  readonly isAnswer?: true;
};

/** Returns the outputs as the recorder shows its streams. */
export function followStreams({ hls, streams }: Outputs, report: StreamsReport): Outputs {
  return { hls, streams: streams.map((stream) => followStream(stream, report)) };
}

function followStream(stream: Stream, report: StreamsReport): Stream {
  const { at } = report;
  const { streams, status } = report.egress;
  if (!isOpen(stream)) return stream;
  // A URL that was removed and added again is listed twice.
  const shown = streams.findLast(({ fingerprint }) => fingerprint === stream.fingerprint);
  if (shown === undefined) {
    const isLost = status === 'EGRESS_ACTIVE' && at - stream.since >= UNKNOWN_AFTER_MS;
    return isLost ? end(stream, 'failed', { at, error: 'the recorder does not know this URL' }) : stream;
  }
  if (shown.status === 'FAILED') return end(stream, 'failed', { at, error: shown.error ?? null });
  if (shown.status === 'FINISHED') return end(stream, 'ended', { at, error: null });
  return run(stream, shown, report);
}

function run(
  stream: Stream,
  { startedAt, retries, lastRetryAt }: EgressStream,
  { at, isAnswer }: StreamsReport,
): Stream {
  // An older report: the list of the media server is up to a minute behind.
  if (startedAt === undefined || retries < stream.retries) return stream;
  if (retries > stream.retries) {
    const since = Math.max(stream.since, lastRetryAt ?? at);
    return {
      ...stream,
      state: 'connecting',
      retries,
      since: isConnectingAgain(stream) ? stream.since : since,
    };
  }
  if (stream.state === 'active') return stream;
  if (retries === 0) return { ...stream, state: 'active', since: startedAt };
  return isAnswer ? { ...stream, state: 'active', since: at } : stream;
}

function end(
  stream: Stream,
  state: StreamState,
  { at, error }: { readonly at: number; readonly error: string | null },
): Stream {
  return { ...stream, state, error, since: Math.max(at, stream.since), sealed: null };
}

/** Returns the outputs of a broadcast that is over. */
export function endStreams({ hls, streams }: Outputs, at: number): Outputs {
  return { hls, streams: streams.map((stream) => (isOpen(stream) ? endOpen(stream, at) : stream)) };
}

function endOpen(stream: Stream, at: number): Stream {
  if (!isConnectingAgain(stream)) return end(stream, 'ended', { at, error: null });
  return end(stream, 'failed', { at, error: 'the receiver closed the connection' });
}

/** URLs that are kept for a broadcast, those that have ended included: a caller may replace a URL many times. */
const MAX_KEPT = 40;

export type StreamsChange = {
  readonly added: readonly Stream[];
  /** Ids of those that go on no longer. */
  readonly removed: readonly string[];
  /** Ids of those that the recorder did not accept, which leave no trace. */
  readonly refused: readonly string[];
};

export function changeStreams({ hls, streams }: Outputs, change: StreamsChange, at: number): Outputs {
  const kept = streams
    .filter(({ id }) => !change.refused.includes(id))
    // The recorder may have reported the end of a removed one already.
    .map((one) =>
      change.removed.includes(one.id) && (isOpen(one) || one.state === 'ended')
        ? end(one, 'removed', { at, error: null })
        : one,
    );
  const all = [...kept, ...change.added];
  const surplus = all.filter((one) => !isOpen(one)).slice(0, Math.max(0, all.length - MAX_KEPT));
  return { hls, streams: all.filter((one) => !surplus.includes(one)) };
}

/** Returns the URLs that have failed between two versions of a broadcast. */
export function findFailed(before: Recording, after: Recording): readonly Stream[] {
  if (before.outputs === after.outputs) return [];
  const failed = new Set(
    readOutputs(before).streams.flatMap(({ id, state }) => (state === 'failed' ? id : [])),
  );
  return readOutputs(after).streams.filter(({ id, state }) => state === 'failed' && !failed.has(id));
}
