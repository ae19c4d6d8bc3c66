import { Gauge, type Registry } from 'prom-client';
import type { Clock } from '../platform/clock.ts';
import type { FigureStore, Figures } from './figures.ts';
import { createRefresh } from './refresh.ts';

export type FigureSource = {
  readonly figures: FigureStore;
  /** The database's clock, which decides whether deliveries wait and workers are alive. */
  readonly clock: Clock;
};

export type FigureGauges = {
  readonly watch: (source: FigureSource) => void;
  readonly refresh: () => Promise<void>;
};

/** Creates gauges of counts in the database. While it does not respond they have no series, and rtc_database_up is 0. */
export function createFigureGauges(registry: Registry): FigureGauges {
  const gauges = registerFigures(registry);
  let refresh = async (): Promise<void> => {};
  return {
    watch: ({ figures: store, clock }) => {
      refresh = createRefresh(clock, {
        read: () => store.read(clock.now()),
        update: (figures) => (figures === undefined ? hideFigures(gauges) : showFigures(gauges, figures, clock.now())),
      });
    },
    refresh: () => refresh(),
  };
}

type FigureSeries = ReturnType<typeof registerFigures>;

function registerFigures(registry: Registry) {
  const registers = [registry];
  return {
    up: new Gauge({ name: 'rtc_database_up', help: '1 while the database responds, else 0', registers }),
    pending: new Gauge({
      name: 'rtc_webhook_deliveries_pending',
      help: 'Deliveries that wait for their next attempt, of all instances',
      registers,
    }),
    oldest: new Gauge({
      name: 'rtc_webhook_oldest_pending_delivery_age_seconds',
      help: 'Age of the oldest waiting delivery; 0 if none waits',
      registers,
    }),
    rooms: new Gauge({ name: 'rtc_rooms', help: 'Open rooms', registers }),
    participants: new Gauge({ name: 'rtc_participants', help: 'Participants in open rooms', registers }),
    recordings: new Gauge({
      name: 'rtc_recordings',
      help: 'Recordings by status',
      labelNames: ['status'],
      registers,
    }),
    transcriptions: new Gauge({
      name: 'rtc_transcriptions',
      help: 'Transcriptions by kind (live, post) and status; queued and processing ones are the backlog',
      labelNames: ['kind', 'status'],
      registers,
    }),
    workers: new Gauge({
      name: 'rtc_speech_workers',
      help: 'Running speech workers, by kind',
      labelNames: ['kind'],
      registers,
    }),
  };
}

/** A reset sets a gauge without labels to 0, which would mean that nothing waits. Therefore the series is removed. */
function hideFigures(gauges: FigureSeries): void {
  for (const gauge of Object.values(gauges)) {
    gauge.reset();
    gauge.remove({});
  }
  gauges.up.set(0);
}

function showFigures(gauges: FigureSeries, figures: Figures, now: number): void {
  const { oldestPendingDeliveryAt: oldest } = figures;
  gauges.up.set(1);
  gauges.pending.set(figures.deliveriesPending);
  gauges.oldest.set(oldest === null ? 0 : Math.max(0, now - oldest) / 1000);
  gauges.rooms.set(figures.rooms);
  gauges.participants.set(figures.participants);
  // Without the reset a status without any rows would keep its last count.
  for (const gauge of [gauges.recordings, gauges.transcriptions, gauges.workers]) gauge.reset();
  for (const status of ['starting', 'recording']) gauges.recordings.set({ status }, 0);
  for (const { status, count } of figures.recordings) gauges.recordings.set({ status }, count);
  for (const status of ['queued', 'processing']) gauges.transcriptions.set({ kind: 'post', status }, 0);
  for (const { kind, status, count } of figures.transcriptions) {
    gauges.transcriptions.set({ kind, status }, count);
  }
  for (const kind of ['stt-live', 'stt-post']) gauges.workers.set({ kind }, 0);
  for (const { kind, count } of figures.workers) gauges.workers.set({ kind }, count);
}
