import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { describeMetric, type MetricDescription } from './metrics.ts';

export type WorkerMetrics = {
  readonly contentType: string;
  readonly countTakeover: () => void;
  readonly render: () => Promise<string>;
  /** Describes every metric of ours, for the documentation. */
  readonly describe: () => readonly MetricDescription[];
};

export type WorkerMetricsOptions = {
  readonly version: string;
  /** Returns the seconds of speech that wait for recognition. */
  readonly waitingSeconds: () => number;
};

/** Creates the Prometheus metrics of one speech worker. */
export function createWorkerMetrics({ version, waitingSeconds }: WorkerMetricsOptions): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'rtc_build_info',
    help: 'Always 1; the label is the running version',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);
  new Gauge({
    name: 'rtc_speech_waiting_seconds',
    help: 'Seconds of live speech that wait for recognition',
    registers,
    collect() {
      this.set(waitingSeconds());
    },
  });
  const takeovers = new Counter({
    name: 'rtc_transcription_takeovers_total',
    help: 'Live transcriptions whose lease was taken over from a worker that died',
    registers,
  });
  return {
    contentType: registry.contentType,
    countTakeover: () => takeovers.inc(),
    render: () => registry.metrics(),
    describe: () => registry.getMetricsAsArray().flatMap(describeMetric),
  };
}
