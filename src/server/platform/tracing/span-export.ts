import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';

export type SpanExport = { readonly to: 'console' } | OtlpExport;

/** A collector that accepts OTLP over HTTP. */
export type OtlpExport = {
  readonly to: 'otlp';
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isCompressed: boolean;
  /** Time limit of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly batch: {
    /** Time between two requests, in milliseconds. */
    readonly intervalMs: number;
    /** Maximum spans of one request. */
    readonly size: number;
    /** Maximum waiting spans. Further ones are dropped. */
    readonly queueSize: number;
  };
};

export function createSpanProcessor(target: SpanExport, log: Log): SpanProcessor {
  if (target.to === 'console') return new SimpleSpanProcessor({ exporter: new ConsoleSpanExporter() });
  return new BatchSpanProcessor({
    exporter: new ReportingExporter(createExporter(target), log),
    scheduledDelayMillis: target.batch.intervalMs,
    maxExportBatchSize: target.batch.size,
    maxQueueSize: target.batch.queueSize,
    exportTimeoutMillis: target.timeoutMs,
  });
}

function createExporter({ protocol, url, headers, isCompressed, timeoutMs }: OtlpExport): SpanExporter {
  const settings = { url, headers: { ...headers }, timeoutMillis: timeoutMs };
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  return new Exporter(isCompressed ? { ...settings, compression: CompressionAlgorithm.GZIP } : settings);
}

/**
 * The SDK does not report that a collector does not respond. Here the first failure and the first success after it are
 * logged.
 */
class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Log;
  #isFailing = false;

  constructor(exporter: SpanExporter, log: Log) {
    this.#exporter = exporter;
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.#exporter.export(spans, (result) => {
      this.#report(result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #report(error: Error | undefined): void {
    const isFailing = error !== undefined;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (isFailing) this.#log.warn({ err: error }, 'traces cannot be sent; further failures are not logged');
    else this.#log.info({}, 'traces are sent again');
  }
}
