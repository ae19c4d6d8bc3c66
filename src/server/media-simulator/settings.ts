import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';

export type EmbeddedMediaSettings = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Drives every wait: timeouts of rooms, the recorder, retries of webhooks. */
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Where recordings without a bucket are written; without it such a recording fails. */
  readonly recordingDir?: string | undefined;
  /** Told of every event, as by the `webhook.urls` of a LiveKit configuration. */
  readonly webhookUrls?: readonly string[] | undefined;
  readonly ingressUrls?: Partial<IngressUrls> | undefined;
  readonly timings?: Partial<Timings> | undefined;
  readonly faults?: Partial<Faults> | undefined;
  readonly log?: Log | undefined;
  /**
   * Unix milliseconds by which access tokens are judged and webhooks signed; the machine's own unless given, as
   * the other side of both is an SDK that knows no other clock.
   */
  readonly tokenTime?: (() => number) | undefined;
};

/** Base URLs that an ingress answers with, as in the `ingress` section of a LiveKit configuration. */
export type IngressUrls = { readonly rtmp: string; readonly whip: string };

/** Milliseconds; the defaults are what a real server with a real recorder was measured to take. */
export type Timings = {
  /** Until a recorder has taken an egress, which egress_started tells. */
  readonly startMs: number;
  /** From then until the start call answers: whoever asked hears of it by webhook first. */
  readonly answerMs: number;
  /** The same with a slow recorder: longer than callers wait. */
  readonly slowStartMs: number;
  /** From the start until the recorder joins the room. */
  readonly recorderJoinMs: number;
  /** From the start, or from the first published track if that is later, until EGRESS_ACTIVE. */
  readonly activeMs: number;
  /** From EGRESS_ENDING until the file is complete. */
  readonly finishMs: number;
  /** How long the server looks for a recorder that is not there. */
  readonly noRecorderMs: number;
  /** How long the server waits for an answer from a participant's or an egress's process. */
  readonly noResponseMs: number;
  /** From EGRESS_ACTIVE until a dying recorder dies. */
  readonly dyingMs: number;
  /** From the death of a recorder until the server puts it out of the room. */
  readonly recorderGoneMs: number;
  /** Added to every answer while the API is slow. */
  readonly slowAnswerMs: number;
};

export const MEASURED_TIMINGS: Timings = {
  startMs: 500,
  answerMs: 100,
  slowStartMs: 35_000,
  recorderJoinMs: 1_000,
  activeMs: 2_500,
  finishMs: 1_500,
  noRecorderMs: 23_500,
  noResponseMs: 3_000,
  dyingMs: 1_000,
  recorderGoneMs: 22_000,
  slowAnswerMs: 5_000,
};

/** What goes wrong, for tests of what then happens. */
export type Faults = {
  /** absent: no egress and no ingress, as on a single node without Redis. */
  readonly redis: 'present' | 'absent';
  /**
   * absent: none takes an egress; slow: takes it late; failing: ends as EGRESS_FAILED instead of getting active;
   * dying: goes away once active and leaves an egress that is active for ever.
   */
  readonly recorder: 'present' | 'absent' | 'slow' | 'failing' | 'dying';
  /** slow and hanging: late and no answers; garbage: 200 with HTML; closing: the connection ends unanswered. */
  readonly api: 'answering' | 'slow' | 'hanging' | 'garbage' | 'closing';
};

export const NO_FAULTS: Faults = { redis: 'present', recorder: 'present', api: 'answering' };

/** What the parts of the embedded server share. */
export type World = {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly timings: Timings;
  /** As they are now; tests change them. */
  readonly faults: () => Faults;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
  readonly log: Log | undefined;
};
