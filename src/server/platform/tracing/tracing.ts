/*
 * Traces of requests: the port. Nothing is traced unless the operator asks for it, so that every user of this port has
 * it as `Tracing | undefined`. open-telemetry.ts implements it.
 */

export interface Tracing {
  /** Starts a span. Without a parent it begins a trace of its own. */
  start(start: SpanStart): Span;
  /** Adds a span that has just ended, below the one that is running. Outside of a span it does nothing. */
  record(span: EndedSpan): void;
  /** The `traceparent` of the running span; undefined outside of one. */
  current(): string | undefined;
  /** Sends what is left. Never rejects. */
  close(): Promise<void>;
}

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The value of the header that passes the span on (W3C Trace Context). */
  readonly traceparent: string;
  /** Runs the work as part of the span: what it starts and records is below it. */
  within<T>(work: () => T): T;
  end(end?: SpanEnd): void;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type SpanStart = {
  readonly name: string;
  /** A server answers a request, a client makes one. */
  readonly kind: 'server' | 'client';
  /** Headers of the request, or what was stored of them. */
  readonly parent?: TraceHeaders | undefined;
  readonly attributes?: SpanAttributes;
};

export type TraceHeaders = {
  readonly traceparent?: string | readonly string[] | null | undefined;
  readonly tracestate?: string | readonly string[] | undefined;
};

export type SpanEnd = {
  /** The name that is known only now, such as the route of a request. */
  readonly name?: string;
  /** Why it failed, without personal data; undefined when it did not. */
  readonly error?: string | undefined;
  readonly attributes?: SpanAttributes;
};

export type EndedSpan = {
  readonly name: string;
  readonly durationMs: number;
  readonly error?: string | undefined;
  readonly attributes: SpanAttributes;
};
