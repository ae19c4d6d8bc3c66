import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ERROR_CODES, type ErrorCode } from '../../contract/errors.ts';
import { EVENT_TYPES } from '../../contract/event-names.ts';
import { LIMITED_KINDS, type LimitedKind, ROOM_LIMITS, type RoomLimit } from '../../contract/keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { LivekitCall } from '../platform/livekit/livekit-media-server.ts';
import type { PoolState } from '../platform/storage/engine.ts';
import {
  createFigureRefresher,
  createRefreshers,
  type Dependencies,
  type FigureSource,
  registerDependencies,
  registerFigures,
} from './gauges.ts';

export type Metrics = ReturnType<typeof createMetrics>;

type MeasuredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Problem code of the response. */
  readonly problem?: ErrorCode | undefined;
};

export type StoreCall = {
  /** Name of the store, such as `deliveries`. */
  readonly store: string;
  /** Name of the method, such as `claim`. */
  readonly method: string;
  readonly isSuccess: boolean;
  readonly durationMs: number;
};

export type DeliveryAttempt = {
  readonly outcome: 'delivered' | 'retrying' | 'failed';
  /** Number of the attempt in this round, from 1. */
  readonly attempt: number;
  readonly durationMs: number;
  /** Time from storing the event to the first attempt; undefined for later attempts. */
  readonly waitedMs: number | undefined;
};

export type MetricDescription = {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
};

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Few buckets, because there is a series for each method of each store. */
const STORE_BUCKETS_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];

/** Numbers of the attempts of a delivery. */
const ATTEMPTS = [1, 2, 3, 4];

/** Creates the Prometheus metrics of one process. Names and units follow Prometheus' own guide. */
export function createMetrics({ version, clock }: { version: string; clock: Clock }) {
  const { registry, ...opened } = openRegistry(version);
  const instruments = createInstruments(registry);
  const { refused, rejected } = instruments;
  const times = createTimeGauges(registry, clock);
  beginAtZero(instruments);
  const losses = createLossCounters(registry);
  const watchPool = createPoolGauges(registry);
  const figures = registerFigures(registry);
  const dependencies = registerDependencies(registry);
  const refreshers: (() => Promise<void>)[] = [];
  return {
    ...opened,
    ...observeWith(instruments),
    ...times,
    watchPool,
    countRefusedEvent: () => refused.inc(),
    countBlockedJoin: () => losses.blockedJoins.inc(),
    countUntoldEvent: (event: string) => losses.untoldEvents.inc({ event }),
    countRejectedWebhook: (reason: string) => rejected.inc({ reason }),
    countTakeovers: ({ kind, count }: { readonly kind: 'delivery' | 'reconciler'; readonly count: number }) =>
      losses.takeovers.inc({ kind }, count),
    countLostAuditEntries: (count: number) => losses.auditEntries.inc(count),
    countUnkeptAuditEntry: () => losses.unkeptEntries.inc(),
    countKeyLimitRefusal: (kind: LimitedKind | RoomLimit) => losses.keyLimits.inc({ kind }),
    /** Adds a source of counts that are read at a scrape. */
    watchFigures: (source: FigureSource) => void refreshers.push(createFigureRefresher(figures, source)),
    /** Adds dependencies that are tried at a scrape. */
    watchDependencies: (wanted: Dependencies) =>
      void refreshers.push(...createRefreshers(dependencies, wanted)),
    render: async () => {
      await Promise.all(refreshers.map((refresh) => refresh()));
      return await registry.metrics();
    },
  };
}

/** Returns a registry with the metrics of every process. */
export function openRegistry(version: string) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'rtc_build_info',
    help: 'Always 1; the label is the running version',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return {
    registry,
    contentType: registry.contentType,
    /** Describes every metric of ours, for the documentation. */
    describe: () => registry.getMetricsAsArray().flatMap(describeMetric),
  };
}

/** The metrics that count and time each call, request or attempt. */
function createInstruments(registry: Registry) {
  const registers = [registry];
  const requests = new Histogram({
    name: 'rtc_http_request_duration_seconds',
    help: 'Requests by method, route pattern and status; 499 if the client closed the connection first',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  });
  const problems = new Counter({
    name: 'rtc_http_problems_total',
    help: 'Requests that failed, by the code of the problem',
    labelNames: ['code'],
    registers,
  });
  const mediaCalls = new Histogram({
    name: 'rtc_media_server_call_duration_seconds',
    help: "Calls of the media server's API by method and outcome",
    labelNames: ['method', 'outcome'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  });
  const storeCalls = new Histogram({
    name: 'rtc_database_call_duration_seconds',
    help: 'Database calls by store, method and outcome; a transaction is one call',
    labelNames: ['store', 'method', 'outcome'],
    buckets: STORE_BUCKETS_SECONDS,
    registers,
  });
  const events = new Counter({
    name: 'rtc_events_stored_total',
    help: 'Events that this instance stored, by source; reconciled ones were missed and found by a comparison with the media server',
    labelNames: ['event', 'source'],
    registers,
  });
  const attempts = new Histogram({
    name: 'rtc_webhook_attempt_duration_seconds',
    help: 'Attempts of deliveries by outcome and number; those with the outcome failed are not retried',
    labelNames: ['outcome', 'attempt'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  });
  const waits = new Histogram({
    name: 'rtc_webhook_first_attempt_delay_seconds',
    help: 'Time from storing an event to the first attempt of each of its deliveries',
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  });
  const refused = new Counter({
    name: 'rtc_media_events_refused_total',
    help: 'Events from the media server that could not be stored and were refused with 503',
    registers,
  });
  const rejected = new Counter({
    name: 'rtc_media_webhooks_rejected_total',
    help: 'Webhooks of the media server that got an error after which it does not send them again, by reason',
    labelNames: ['reason'],
    registers,
  });
  return { requests, problems, mediaCalls, storeCalls, events, attempts, waits, refused, rejected };
}

type Instruments = ReturnType<typeof createInstruments>;

function observeWith(instruments: Instruments) {
  const { requests, problems, mediaCalls, storeCalls, events, attempts, waits } = instruments;
  return {
    observeRequest: ({ method, route, status, durationMs, problem }: MeasuredRequest) => {
      requests.observe({ method, route, status }, durationMs / 1000);
      if (problem !== undefined) problems.inc({ code: problem });
    },
    observeMediaCall: ({ method, outcome, durationMs }: LivekitCall) =>
      mediaCalls.observe({ method, outcome }, durationMs / 1000),
    observeStoreCall: ({ store, method, isSuccess, durationMs }: StoreCall) =>
      storeCalls.observe({ store, method, outcome: isSuccess ? 'ok' : 'error' }, durationMs / 1000),
    observeEvents: (stored: readonly { readonly type: string; readonly isReconciled: boolean }[]) => {
      for (const { type, isReconciled } of stored) {
        events.inc({ event: type, source: isReconciled ? 'reconciliation' : 'notification' });
      }
    },
    observeAttempt: ({ outcome, attempt, durationMs, waitedMs }: DeliveryAttempt) => {
      attempts.observe({ outcome, attempt }, durationMs / 1000);
      if (waitedMs !== undefined) waits.observe(Math.max(0, waitedMs) / 1000);
    },
  };
}

type ReadGauge<T> = {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
  readonly show: (gauge: Gauge, value: T | undefined) => void;
};

/** Creates a gauge of what a scrape reads. Returns what sets where from: before that the value is undefined. */
function createReadGauge<T>(registry: Registry, { show, ...options }: ReadGauge<T>) {
  let read = (): T | undefined => undefined;
  new Gauge({
    ...options,
    registers: [registry],
    collect() {
      show(this, read());
    },
  });
  return (from: () => T | undefined): void => {
    read = from;
  };
}

/** Unix milliseconds; 0 if undefined. */
function showSince(gauge: Gauge, since = 0): void {
  gauge.set(since / 1000);
}

/** Instants that a scrape reads. */
function createTimeGauges(registry: Registry, clock: Clock) {
  const watchRefusedEvents = createReadGauge<number>(registry, {
    name: 'rtc_media_events_refused_since_seconds',
    help: 'Unix time of the first refused event that no comparison has replaced yet; 0 if there is none',
    show: showSince,
  });
  const watchRefusedPurge = createReadGauge<number>(registry, {
    name: 'rtc_purge_refused_since_seconds',
    help: 'Unix time since which nothing is deleted whose retention has ended, because the clock may be wrong; else 0',
    show: showSince,
  });
  createReadGauge(registry, {
    name: 'rtc_time_seconds',
    help: "Unix time of this instance's clock at the scrape; Prometheus' timestamp() of it is the time by its own",
    show: (gauge) => gauge.set(clock.now() / 1000),
  });
  /** Milliseconds; undefined while it is unknown. */
  const watchMediaClock = createReadGauge<number>(registry, {
    name: 'rtc_media_server_clock_difference_seconds',
    help: "Seconds by which the media server's clock is ahead of the service's, negative when it is behind; 0 within a second; absent while it does not respond",
    show: (gauge, ms) => (ms === undefined ? gauge.remove({}) : gauge.set(ms / 1000)),
  });
  return { watchRefusedEvents, watchRefusedPurge, watchMediaClock };
}

/** Creates the gauges of a connection pool. They have no series until a pool is watched, because SQLite has none. */
function createPoolGauges(registry: Registry) {
  const watchConnections = createReadGauge<PoolState>(registry, {
    name: 'rtc_database_pool_connections',
    help: 'Connections of this instance to PostgreSQL by state (used, idle); absent on SQLite',
    labelNames: ['state'],
    show: (gauge, pool) => {
      if (pool === undefined) return;
      gauge.set({ state: 'used' }, pool.used);
      gauge.set({ state: 'idle' }, pool.idle);
    },
  });
  const watchWaiting = createReadGauge<PoolState>(registry, {
    name: 'rtc_database_pool_waiting',
    help: 'Database calls of this instance that wait for a connection to PostgreSQL; 0 on SQLite',
    show: (gauge, pool) => gauge.set(pool?.waiting ?? 0),
  });
  return (read: () => PoolState): void => {
    watchConnections(read);
    watchWaiting(read);
  };
}

/**
 * Starts the series at 0, because Prometheus sees no increase in a new series: the first failed delivery would be in no
 * rate, and cause no alert.
 */
function beginAtZero({ events, attempts, problems }: Instruments): void {
  for (const event of EVENT_TYPES) {
    for (const source of ['notification', 'reconciliation']) events.inc({ event, source }, 0);
  }
  for (const outcome of ['delivered', 'retrying', 'failed']) {
    for (const attempt of ATTEMPTS) attempts.zero({ outcome, attempt });
  }
  for (const code of ERROR_CODES) problems.inc({ code }, 0);
}

/** Reads the description of a metric, which the library's types leave out. */
function describeMetric(metric: object): readonly MetricDescription[] {
  if (!('name' in metric && typeof metric.name === 'string' && metric.name.startsWith('rtc_'))) return [];
  const help = 'help' in metric && typeof metric.help === 'string' ? metric.help : '';
  const labels =
    'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];
  return [{ name: metric.name, type: metric.constructor.name.toLowerCase(), labels, help }];
}

const LIMITED_EVENTS = ['participant_joined', 'participant_left', 'track_published', 'track_unpublished'];

/** Counts what an instance that dies, a database that is unavailable for long, or a key that asks for too much leads to. */
function createLossCounters(registry: Registry) {
  const registers = [registry];
  const takeovers = new Counter({
    name: 'rtc_lease_takeovers_total',
    help: 'Deliveries and comparisons that this instance took over from one that died or was frozen',
    labelNames: ['kind'],
    registers,
  });
  // Starts the series at 0, because Prometheus sees no increase in a new series.
  for (const kind of ['delivery', 'reconciler']) takeovers.inc({ kind }, 0);
  const auditEntries = new Counter({
    name: 'rtc_audit_entries_lost_total',
    help: 'Entries of the audit log that were lost because the database was down for too long',
    registers,
  });
  const unkeptEntries = new Counter({
    name: 'rtc_audit_entries_unkept_total',
    help: 'Refused requests that are not in the audit log, because their key had more than 60 of them in a minute',
    registers,
  });
  const keyLimits = new Counter({
    name: 'rtc_key_limit_refusals_total',
    help: 'Requests that were refused because their API key has as many of this kind as it may have',
    labelNames: ['kind'],
    registers,
  });
  for (const kind of [...LIMITED_KINDS, ...ROOM_LIMITS]) keyLimits.inc({ kind }, 0);
  const blockedJoins = new Counter({
    name: 'rtc_blocked_joins_total',
    help: 'Joins of blocked people with older tokens, which no event reports: they are removed at once',
    registers,
  });
  return {
    takeovers,
    auditEntries,
    unkeptEntries,
    keyLimits,
    blockedJoins,
    untoldEvents: createUntoldCounter(registers),
  };
}

function createUntoldCounter(registers: Registry[]): Counter<'event'> {
  const untoldEvents = new Counter({
    name: 'rtc_events_left_out_total',
    help: 'Events that were left out, because their participant joined or published more often than 30 times in the minute',
    labelNames: ['event'],
    registers,
  });
  for (const event of LIMITED_EVENTS) untoldEvents.inc({ event }, 0);
  return untoldEvents;
}
