/** The clock of the simulator. */
type Clock = {
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** Random, URL-safe ids without a prefix. */
type IdGenerator = { readonly next: () => string };

/** Structured logging: constant messages, values as fields. */
type Log = {
  readonly warn: (fields: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (fields: Readonly<Record<string, unknown>>, message: string) => void;
};

export type EmbeddedMediaSettings = {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Used for every wait: room time-outs, the recorder, and retries of webhooks. */
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** Folder for recordings without a bucket; without it such a recording fails. */
  readonly recordingDir?: string | undefined;
  /** Receive every event, as the `webhook.urls` of a LiveKit configuration do. */
  readonly webhookUrls?: readonly string[] | undefined;
  readonly ingressUrls?: Partial<IngressUrls> | undefined;
  /** LiveKit's room.enable_remote_unmute; default false, like LiveKit's. */
  readonly enableRemoteUnmute?: boolean | undefined;
  readonly timings?: Partial<Timings> | undefined;
  readonly faults?: Partial<Faults> | undefined;
  readonly log?: Log | undefined;
  /**
   * Unix milliseconds for verifying access tokens and signing webhooks. Default: the system's time, which the SDK on
   * the other side uses too.
   */
  readonly tokenTime?: (() => number) | undefined;
};

/** Base URLs of ingresses, as in the `ingress` section of a LiveKit configuration. */
export type IngressUrls = { readonly rtmp: string; readonly whip: string };

/** Durations in milliseconds. The defaults were measured on a real server with a real recorder. */
type Timings = {
  /** From the start request until a recorder accepts the egress and egress_started is emitted. */
  readonly startMs: number;
  /** From then until the response to the start request, which therefore follows the webhook. */
  readonly startResponseMs: number;
  /** Like startMs, with a slow recorder: longer than callers wait. */
  readonly slowStartMs: number;
  /** From the start until the recorder joins the room. */
  readonly recorderJoinMs: number;
  /** From the start, or from the first published track if that is later, until EGRESS_ACTIVE. */
  readonly activeMs: number;
  /** From EGRESS_ENDING until the file is complete. */
  readonly finishMs: number;
  /** How long the server looks for a recorder when there is none. */
  readonly noRecorderMs: number;
  /** How long the server waits for a response from the process of a participant or an egress. */
  readonly noResponseMs: number;
  /** From EGRESS_ACTIVE until a dying recorder dies. */
  readonly dyingMs: number;
  /** From the death of a recorder until the server removes it from the room. */
  readonly recorderGoneMs: number;
};

export const MEASURED_TIMINGS: Timings = {
  startMs: 500,
  startResponseMs: 100,
  slowStartMs: 35_000,
  recorderJoinMs: 1_000,
  activeMs: 2_500,
  finishMs: 1_500,
  noRecorderMs: 23_500,
  noResponseMs: 3_000,
  dyingMs: 1_000,
  recorderGoneMs: 22_000,
};

/** Faults that tests can inject. */
export type Faults = {
  /** absent: egress and ingress fail as on a single node without Redis. */
  readonly redis: 'present' | 'absent';
  /**
   * absent: no recorder accepts an egress. slow: accepts it late. failing: ends with EGRESS_FAILED instead of becoming
   * active. dying: its process ends once it is active, and the egress stays active for ever.
   */
  readonly recorder: 'present' | 'absent' | 'slow' | 'failing' | 'dying';
  /** Hosts of URLs of broadcasts that accept no stream. */
  readonly refusedHosts: readonly string[];
  /** closing: closes the connection instead of a response. */
  readonly api: 'responding' | 'closing';
};

export const NO_FAULTS: Faults = {
  redis: 'present',
  recorder: 'present',
  refusedHosts: [],
  api: 'responding',
};

/** State and settings that all parts of the simulator share. */
export type SimulatorContext = {
  readonly enableRemoteUnmute: boolean;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly timings: Timings;
  /** The current faults, which tests may change. */
  readonly faults: () => Faults;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
  readonly log: Log | undefined;
};

/**
 * Runs `work` after `ms`, unless `signal` is aborted or the server closes first. Errors of `work` are logged, because no
 * caller waits for it.
 */
export function runLater(
  { clock, closing, log }: Pick<SimulatorContext, 'clock' | 'closing' | 'log'>,
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal },
  work: () => void | Promise<void>,
): void {
  const stop = signal === undefined ? closing : AbortSignal.any([closing, signal]);
  const run = async () => {
    try {
      await clock.sleep(ms, stop);
    } catch (error) {
      if (stop.aborted) return;
      throw error;
    }
    if (!stop.aborted) await work();
  };
  run().catch((error: unknown) => {
    log?.error(
      { reason: error instanceof Error ? error.message : String(error) },
      'embedded media work failed',
    );
  });
}
