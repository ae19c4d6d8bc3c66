import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { withTimeout } from '../clock.ts';
import type { Log } from '../log.ts';
import type { EndedSpan, Span, SpanEnd, SpanStart, TraceHeaders, Tracing } from './tracing.ts';

/** The settings of the standard OTEL_ variables. */
export type TracingSettings = {
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampling: Sampling;
  readonly export: SpanExport;
};

export type TracingDeps = {
  readonly version: string;
  readonly instanceId: string;
  readonly log: Log;
};

/**
 * The official SDK without its globals and without its instrumentations. Those patch modules when they are loaded; a bundle
 * has none left to patch, and our own spans have the names of this service. This module is loaded only when tracing is on.
 */
export function createTracing(settings: TracingSettings, deps: TracingDeps): Tracing {
  const processor = createSpanProcessor(settings.export, deps.log);
  return new OpenTelemetryTracing(settings, { ...deps, processor });
}

/** Time limit: a collector that does not respond must not delay the end of the process. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Reads and writes `traceparent` and `tracestate` (https://www.w3.org/TR/trace-context/). */
const HEADERS = new W3CTraceContextPropagator();

class OpenTelemetryTracing implements Tracing {
  readonly #contexts = new AsyncLocalStorageContextManager().enable();
  readonly #provider: TracerProvider;
  readonly #tracer;
  readonly #log: Log;

  constructor(settings: TracingSettings, deps: TracingDeps & { readonly processor: SpanProcessor }) {
    this.#log = deps.log;
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.version': deps.version,
        'service.instance.id': deps.instanceId,
        ...settings.resourceAttributes,
        'service.name': settings.serviceName,
      }),
      sampler: createSampler(settings.sampling),
      spanProcessors: [deps.processor],
    });
    this.#tracer = this.#provider.getTracer('rtc-service', deps.version);
  }

  start({ name, kind, parent, attributes = {} }: SpanStart): Span {
    const parentContext = toContext(parent);
    const options = { kind: kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT, attributes };
    const span = this.#tracer.startSpan(name, options, parentContext);
    const context = trace.setSpan(parentContext, span);
    return {
      traceId: span.spanContext().traceId,
      traceparent: toTraceparent(context) ?? '',
      within: (work) => this.#contexts.with(context, work),
      end: (end: SpanEnd = {}) => {
        if (end.name !== undefined) span.updateName(end.name);
        if (end.attributes !== undefined) span.setAttributes(end.attributes);
        if (end.error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: end.error });
        span.end();
      },
    };
  }

  record({ name, durationMs, error, attributes }: EndedSpan): void {
    const context = this.#contexts.active();
    const running = trace.getSpanContext(context);
    if (running === undefined || (running.traceFlags & TraceFlags.SAMPLED) === 0) return;
    const endTime = Date.now();
    const options = { kind: SpanKind.CLIENT, startTime: endTime - durationMs, attributes };
    const span = this.#tracer.startSpan(name, options, context);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(endTime);
  }

  current(): string | undefined {
    return toTraceparent(this.#contexts.active());
  }

  async close(): Promise<void> {
    try {
      await withTimeout(this.#provider.shutdown(), CLOSE_TIMEOUT_MS, undefined);
    } catch (err) {
      this.#log.warn({ err }, 'the last traces could not be sent');
    }
    this.#contexts.disable();
  }
}

function toContext(parent: TraceHeaders | undefined): Context {
  if (typeof parent?.traceparent !== 'string') return ROOT_CONTEXT;
  return HEADERS.extract(ROOT_CONTEXT, parent, {
    keys: (headers) => Object.keys(headers),
    get: (headers: TraceHeaders, name) => {
      const value = name === 'traceparent' ? headers.traceparent : headers.tracestate;
      return typeof value === 'string' ? value : undefined;
    },
  });
}

function toTraceparent(context: Context): string | undefined {
  const headers: Record<string, string> = {};
  HEADERS.inject(context, headers, {
    set: (carrier: Record<string, string>, name, value) => {
      carrier[name] = value;
    },
  });
  return headers.traceparent;
}

/** The values of OTEL_TRACES_SAMPLER that the SDK has a sampler for. */
type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

/** `ratio` is the share of traces that is kept, from 0 to 1. */
type Sampling = { readonly name: SamplerName; readonly ratio: number };

/** Samplers that are `parentbased` follow the caller's decision, where there is one. */
function createSampler({ name, ratio }: Sampling): Sampler {
  const samplers: Readonly<Record<SamplerName, () => Sampler>> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
    parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
    parentbased_traceidratio: () => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
  };
  return samplers[name]();
}

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

function createSpanProcessor(target: SpanExport, log: Log): SpanProcessor {
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
