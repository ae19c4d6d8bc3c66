import type { SettingValues } from './settings.ts';

export type TracingConfig = {
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampling: { readonly name: SettingValues['OTEL_TRACES_SAMPLER']; readonly ratio: number };
  readonly export:
    | { readonly to: 'console' }
    | {
        readonly to: 'otlp';
        readonly protocol: 'http/protobuf' | 'http/json';
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly isCompressed: boolean;
        readonly timeoutMs: number;
        readonly batch: { readonly intervalMs: number; readonly size: number; readonly queueSize: number };
      };
};

/** The default endpoint of the OpenTelemetry specification. */
const LOCAL_COLLECTOR = 'http://localhost:4318';

/** Undefined when tracing is off. */
export function tracingConfig(values: SettingValues, faults: string[]): TracingConfig | undefined {
  const endpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? `${endpoint ?? LOCAL_COLLECTOR}/v1/traces`;
  const isEndpointSet = endpoint !== undefined || values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined;
  const to = values.OTEL_TRACES_EXPORTER ?? (isEndpointSet ? 'otlp' : 'none');
  if (to === 'none' || values.OTEL_SDK_DISABLED === 'true') return undefined;
  const { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: size, OTEL_BSP_MAX_QUEUE_SIZE: queueSize } = values;
  if (size > queueSize) {
    faults.push(
      `OTEL_BSP_MAX_EXPORT_BATCH_SIZE is "${size}", but must not be more than OTEL_BSP_MAX_QUEUE_SIZE, which is ${queueSize}`,
    );
  }
  return {
    serviceName: values.OTEL_SERVICE_NAME,
    resourceAttributes: pairsOf(values.OTEL_RESOURCE_ATTRIBUTES),
    sampling: { name: values.OTEL_TRACES_SAMPLER, ratio: Number(values.OTEL_TRACES_SAMPLER_ARG) },
    export: to === 'console' ? { to } : { to, url, ...otlpSettings(values) },
  };
}

function otlpSettings(values: SettingValues) {
  return {
    protocol: values.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? values.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: {
      ...pairsOf(values.OTEL_EXPORTER_OTLP_HEADERS),
      ...pairsOf(values.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    isCompressed: values.OTEL_EXPORTER_OTLP_COMPRESSION === 'gzip',
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    batch: {
      intervalMs: values.OTEL_BSP_SCHEDULE_DELAY,
      size: values.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
      queueSize: values.OTEL_BSP_MAX_QUEUE_SIZE,
    },
  };
}

/** Parses `name=value,…` with percent-encoding, as the specification defines headers and resource attributes. */
function pairsOf(text: string): Readonly<Record<string, string>> {
  if (text === '') return {};
  const pairs = text.split(',').map((pair) => {
    const mark = pair.indexOf('=');
    return [decode(pair.slice(0, mark)), decode(pair.slice(mark + 1))];
  });
  return Object.fromEntries(pairs);
}

/** A value that is not well encoded is taken literally. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return text.trim();
  }
}
