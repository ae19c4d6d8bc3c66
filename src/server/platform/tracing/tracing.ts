/*
 * Traces of requests: the port. Nothing is traced unless the operator turns it on, so every user of this port has a `Tracing
 * | undefined`. open-telemetry.ts implements it.
 */

export interface Tracing {
  /** Starts a span. Without a parent the span begins a trace of its own. */
  start(start: SpanStart): Span;
  /** Adds a span that has just ended, as a child of the running one. Does nothing outside of a span. */
  record(span: EndedSpan): void;
  /** Returns the `traceparent` of the running span; undefined outside of one. */
  current(): string | undefined;
  /** Sends the remaining spans. Never rejects. */
  close(): Promise<void>;
}

export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Value of the header that passes the span on (W3C Trace Context). */
  readonly traceparent: string;
  /** Runs the work as part of the span: spans that it starts or records are children of it. */
  within<T>(work: () => T): T;
  end(end?: SpanEnd): void;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type SpanStart = {
  readonly name: string;
  /** A server responds to a request, a client makes one. */
  readonly kind: 'server' | 'client';
  /** Headers of the request, or the stored part of them. */
  readonly parent?: TraceHeaders | undefined;
  readonly attributes?: SpanAttributes;
};

export type TraceHeaders = {
  readonly traceparent?: string | readonly string[] | null | undefined;
  readonly tracestate?: string | readonly string[] | undefined;
};

export type SpanEnd = {
  /** A name that is known only at the end, such as the route of a request. */
  readonly name?: string;
  /** Why the span failed, without personal data; undefined when it did not. */
  readonly error?: string | undefined;
  readonly attributes?: SpanAttributes;
};

export type EndedSpan = {
  readonly name: string;
  readonly durationMs: number;
  readonly error?: string | undefined;
  readonly attributes: SpanAttributes;
};
