import type { LiveTranscription, PostTranscriptionDetail, Segment } from '../contract/transcription.ts';
import type { CallOptions } from './client-options.ts';
import { pause } from './retry.ts';
import { RtcError } from './rtc-error.ts';
import { untilAnswered, type WaitDeps, type WaitOptions } from './until-answered.ts';

export type FollowTranscriptionOptions = WaitOptions & {
  /** Only what ended after it (ISO 8601); without it, all that has been said. */
  readonly since?: string | undefined;
  /** Told of the transcription when the first answer has come. */
  readonly onStart?: ((transcription: LiveTranscription) => void) | undefined;
};

export type FollowTranscriptionDeps = WaitDeps & {
  readonly ofRoom: (
    query: CallOptions & { readonly since?: string | undefined },
  ) => Promise<LiveTranscription>;
  readonly ofId: (id: string, query: CallOptions) => Promise<LiveTranscription | PostTranscriptionDetail>;
};

const POLL_MS = 500;
/** Segments are stored when they have been recognised: a long one comes after a short one that ended later. */
const OVERLAP_MS = 120_000;

/**
 * What is said in a room, in the order in which it is stored, until the transcription is stopped. One that is over is
 * told whole. The first answer must come; later on a service that is away is waited for, and nothing is missed.
 */
export async function* followTranscription(
  deps: FollowTranscriptionDeps,
  options: FollowTranscriptionOptions,
): AsyncGenerator<Segment, void, undefined> {
  const call = options.signal === undefined ? {} : { signal: options.signal };
  const told = new Set<string>();
  const untold = (segments: readonly Segment[]): readonly Segment[] =>
    segments.filter(({ id, endedAt }) => {
      const isNew =
        !told.has(id) && (options.since === undefined || Date.parse(endedAt) > Date.parse(options.since));
      if (isNew) told.add(id);
      return isNew;
    });
  let answer = await deps.ofRoom({ ...call, since: options.since });
  const { transcriptionId } = answer;
  options.onStart?.(answer);
  let latest = 0;
  for (;;) {
    yield* untold(answer.segments);
    if (answer.status === 'stopped') return;
    latest = Math.max(latest, ...answer.segments.map(({ endedAt }) => Date.parse(endedAt)));
    await wait(deps, options.signal);
    const since = latest === 0 ? options.since : new Date(latest - OVERLAP_MS).toISOString();
    answer = await untilAnswered(deps, options, () => deps.ofRoom({ ...call, since }));
    if (answer.transcriptionId === transcriptionId) continue;
    // It was stopped, and another one started since.
    const last = await untilAnswered(deps, options, () => deps.ofId(transcriptionId, call));
    yield* untold(last.segments);
    return;
  }
}

async function wait(deps: WaitDeps, signal: AbortSignal | undefined): Promise<void> {
  try {
    await (deps.pause ?? pause)(POLL_MS, signal);
  } catch (cause) {
    const about = { method: 'GET', path: '/v1/rooms/:roomId/transcription' };
    throw new RtcError({ ...about, code: 'aborted', detail: 'the call was cancelled', cause });
  }
}
