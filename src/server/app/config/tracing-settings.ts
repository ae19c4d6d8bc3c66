import { choiceSetting, HTTP, integerSetting, textSetting, urlSetting } from './setting.ts';

const PAIRS = {
  check: (text: string) => text.split(',').every((pair) => /^[^=\s]+=[^\s]*$/.test(pair.trim())),
  allowed: 'name=value pairs separated by commas, percent-encoded',
};

/** The standard variables of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). */
export const TRACING_SETTINGS = {
  OTEL_SDK_DISABLED: choiceSetting({
    meaning: 'Send no traces, whatever the other OTEL_ settings say',
    fallback: 'false',
    choices: ['true', 'false'],
  }),
  OTEL_TRACES_EXPORTER: choiceSetting({
    meaning: 'Exporter of traces; default: otlp if an endpoint is set, otherwise none',
    fallback: undefined,
    choices: ['otlp', 'console', 'none'],
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlSetting({
    meaning:
      'OpenTelemetry collector; traces go to /v1/traces below it; default http://localhost:4318 if only OTEL_TRACES_EXPORTER is set',
    fallback: undefined as string | undefined,
    protocols: HTTP,
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: urlSetting({
    meaning: 'Whole URL of the collector for traces only',
    fallback: undefined as string | undefined,
    protocols: HTTP,
  }),
  OTEL_EXPORTER_OTLP_HEADERS: textSetting({
    meaning: 'Headers for the collector',
    fallback: '',
    secret: true,
    ...PAIRS,
  }),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: textSetting({
    meaning: 'Further headers, for traces only',
    fallback: '',
    secret: true,
    ...PAIRS,
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: choiceSetting({
    meaning: 'Encoding of traces',
    fallback: 'http/protobuf',
    choices: ['http/protobuf', 'http/json'],
  }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: choiceSetting({
    meaning: 'Encoding, for traces only',
    fallback: undefined,
    choices: ['http/protobuf', 'http/json'],
  }),
  OTEL_EXPORTER_OTLP_COMPRESSION: choiceSetting({
    meaning: 'Compression of traces',
    fallback: 'none',
    choices: ['none', 'gzip'],
  }),
  OTEL_EXPORTER_OTLP_TIMEOUT: integerSetting({
    meaning: 'Time limit of a request to the collector',
    fallback: 10_000,
    minimum: 1,
    maximum: 600_000,
    unit: 'milliseconds',
  }),
  OTEL_SERVICE_NAME: textSetting({ meaning: 'Name of the service in traces', fallback: 'rtc-service' }),
  OTEL_RESOURCE_ATTRIBUTES: textSetting({
    meaning: 'Attributes of this process, for every trace',
    fallback: '',
    ...PAIRS,
  }),
  OTEL_TRACES_SAMPLER: choiceSetting({
    meaning: 'Sampler, which decides which traces are sent; parentbased samplers follow the caller',
    fallback: 'parentbased_always_on',
    choices: [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
  }),
  OTEL_TRACES_SAMPLER_ARG: textSetting({
    meaning: 'Share of traces that a traceidratio sampler keeps',
    fallback: '1',
    pattern: /^(0(\.\d+)?|1(\.0+)?)$/,
    allowed: 'a number from 0 to 1',
  }),
  OTEL_BSP_SCHEDULE_DELAY: integerSetting({
    meaning: 'Interval at which traces are sent',
    fallback: 5000,
    minimum: 1,
    maximum: 600_000,
    unit: 'milliseconds',
  }),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: integerSetting({
    meaning: 'Maximum number of spans in one request to the collector',
    fallback: 512,
    minimum: 1,
    maximum: 100_000,
  }),
  OTEL_BSP_MAX_QUEUE_SIZE: integerSetting({
    meaning: 'Maximum number of spans that wait for the collector; further ones are dropped',
    fallback: 2048,
    minimum: 1,
    maximum: 1_000_000,
  }),
} as const;
