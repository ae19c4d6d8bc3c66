import { join, resolve } from 'node:path';
import { ConfigError, type Environment } from './environment.ts';
import { REQUIRED, type Setting } from './setting.ts';
import { parseBasePath, SETTINGS, type SettingName, type SettingValues } from './settings.ts';
import { listUnknownSettings, secretWarnings } from './warnings.ts';

export type Config = Readonly<ReturnType<typeof buildConfig>> & {
  /** Variables that look like settings and are none, one sentence each. */
  readonly unknownSettings: readonly string[];
};

export type SpeechConfig =
  | {
      readonly engine: 'sherpa';
      /** Model folders by language. Undefined means the installed models. */
      readonly models: Readonly<Record<string, string>> | undefined;
      readonly threads: number;
    }
  | {
      readonly engine: 'openai';
      readonly url: string;
      readonly apiKey: string | undefined;
      readonly model: string;
      readonly languages: readonly string[];
      /** Folders of local models by language; the server gets none of these languages. */
      readonly models: Readonly<Record<string, string>>;
      readonly threads: number;
    };

/** Throws a ConfigError that names every bad setting. */
export function loadConfig(environment: Environment): Config {
  const faults: string[] = [];
  const values = readValues(environment, faults);
  // Bad values are replaced by defaults here, so that contradictions between settings are reported as well.
  const contradictions: string[] = [];
  const config = {
    ...buildConfig(values as SettingValues, contradictions),
    unknownSettings: listUnknownSettings(environment),
  };
  if (config.values.STRICT_SECRETS) contradictions.push(...secretWarnings(config));
  const reported = new Set(faults.map(readName));
  faults.push(...contradictions.filter((fault) => !reported.has(readName(fault))));
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function readName(fault: string): string {
  return fault.split(' ', 1)[0] ?? '';
}

/** Returns the effective values by variable name. Secrets are masked, and unset values are empty. */
export function describeConfig(config: Config): Readonly<Record<string, string>> {
  const names = Object.keys(SETTINGS) as SettingName[];
  return Object.fromEntries(names.map((name) => [name, describeValue(name, effectiveValue(config, name))]));
}

function effectiveValue(config: Config, name: SettingName): unknown {
  const effective: Partial<Record<SettingName, unknown>> = {
    LIVEKIT_PUBLIC_URL: config.livekit.publicUrl,
    LIVEKIT_API_KEY: config.livekit.apiKey,
    LIVEKIT_API_SECRET: config.livekit.apiSecret,
    DATA_DIR: config.dataDir,
    RECORDING_DIR: config.recordingDir,
    SERVICE_URL: serviceUrl(config, config.port),
    BASE_PATH: config.basePath,
  };
  return effective[name] ?? config.values[name];
}

/** SERVICE_URL, or the address that the service listens on, each with BASE_PATH. */
export function serviceUrl(config: Config, listeningPort: number): string {
  const { SERVICE_URL: url } = config.values;
  if (url !== undefined) return new URL(url).origin + config.basePath;
  const unspecified = config.host === '0.0.0.0' || config.host === '::';
  const host = unspecified ? '127.0.0.1' : config.host.includes(':') ? `[${config.host}]` : config.host;
  return `http://${host}:${listeningPort}${config.basePath}`;
}

/** SERVICE_URL may leave BASE_PATH out, or be the only one that names it. */
function basePath({ BASE_PATH: given, SERVICE_URL: url }: SettingValues, faults: string[]): string {
  const path = url === undefined ? '' : new URL(url).pathname.replace(/\/+$/, '');
  if (path === '' || path === given) return given ?? '';
  const named = JSON.stringify(url);
  if (given !== undefined) {
    faults.push(`SERVICE_URL is ${named}, whose path is not BASE_PATH, which is ${JSON.stringify(given)}`);
  } else if (parseBasePath(path) !== path) {
    faults.push(`SERVICE_URL is ${named}, but its path must be ${SETTINGS.BASE_PATH.allowed}`);
  }
  return given ?? path;
}

function describeValue(name: SettingName, value: unknown): string {
  if (value === undefined) return '';
  if (SETTINGS[name].secret) return '***';
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}

function readValues(environment: Environment, faults: string[]): Readonly<Record<string, unknown>> {
  const entries = Object.entries(SETTINGS as Readonly<Record<string, Setting<unknown>>>).map(
    ([name, setting]) => {
      const text = environment[name];
      if (text === undefined || text === '') {
        if (setting.fallback === REQUIRED)
          faults.push(`${name} is not set: ${setting.meaning} (${setting.allowed})`);
        return [name, setting.fallback];
      }
      const value = setting.parse(text);
      if (value === undefined) {
        faults.push(`${name} is ${setting.secret ? '***' : quote(text)}, but must be ${setting.allowed}`);
      }
      return [name, value ?? setting.fallback];
    },
  );
  return Object.fromEntries(entries);
}

/** Masks user info, because a URL may contain a password where it must not. */
function quote(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/?#]*@/, '//***@'));
}

function buildConfig(values: SettingValues, faults: string[]) {
  const dataDir = resolve(values.DATA_DIR);
  return {
    values,
    host: values.HOST,
    port: values.PORT,
    /** The path under which clients reach the service, without a slash at its end: empty, or `/rtc`. */
    basePath: basePath(values, faults),
    apiKey: values.API_KEY,
    apiSecrets: apiSecrets(values),
    acceptsSingleHeader: values.AUTH_SINGLE_HEADER,
    livekit: {
      url: values.LIVEKIT_URL,
      publicUrl: publicMediaUrl(values, faults),
      apiKey: values.LIVEKIT_API_KEY ?? values.API_KEY,
      apiSecret: values.LIVEKIT_API_SECRET ?? values.API_SECRET,
    },
    trustProxy: trustedProxies(values.TRUST_PROXY),
    tokenTtlSeconds: values.TOKEN_TTL,
    maxTokenTtlSeconds: Math.max(values.TOKEN_TTL, values.MAX_TOKEN_TTL),
    dataDir,
    databaseUrl: values.DATABASE_URL,
    /** The media server's Redis. */
    redisUrl: values.REDIS_URL,
    bucket: bucketConfig(values, faults),
    recordingDir: resolve(values.RECORDING_DIR ?? join(dataDir, 'recordings')),
    recordingPath: values.RECORDING_PATH,
    /** The current key first. Undefined means a key file in the data directory. */
    encryptionKeys: encryptionKeys(values, faults),
    webhookProxyUrl: values.WEBHOOK_PROXY_URL,
    webhookAllowedNetworks: toNetworks(values.WEBHOOK_ALLOWED_NETWORKS),
    broadcastAllowedNetworks: toNetworks(values.BROADCAST_ALLOWED_NETWORKS),
    speech: speechConfig(values, faults),
    metrics: metricsConfig(values),
    /** Undefined when tracing is off. */
    tracing: tracingConfig(values, faults),
  };
}

function speechConfig(values: SettingValues, faults: string[]): SpeechConfig {
  const { STT_ENGINE: engine, STT_MODELS: models, STT_OPENAI_URL: url, STT_THREADS: threads } = values;
  const pairs = models?.split(',').map((pair) => {
    const mark = pair.indexOf('=');
    return [pair.slice(0, mark), resolve(pair.slice(mark + 1))] as const;
  });
  const folders = pairs && Object.fromEntries(pairs);
  if (engine === 'sherpa') return { engine, threads, models: folders };
  if (url === undefined) faults.push('STT_OPENAI_URL is not set, but STT_ENGINE is "openai"');
  return {
    engine,
    url: url ?? '',
    apiKey: values.STT_OPENAI_KEY,
    model: values.STT_OPENAI_MODEL,
    languages: values.STT_OPENAI_LANGUAGES.split(','),
    models: folders ?? {},
    threads,
  };
}

/** The current secret first, then the one being rotated out. */
function apiSecrets(values: SettingValues): readonly [string, ...string[]] {
  const { API_SECRET: current, API_SECRET_PREVIOUS: previous } = values;
  return previous === undefined ? [current] : [current, previous];
}

const LOOPBACK_HOST = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Clients get wss addresses, as the specification says, and ws addresses only for loopback hosts. */
function publicMediaUrl(values: SettingValues, faults: string[]): string {
  const name = values.LIVEKIT_PUBLIC_URL === undefined ? 'LIVEKIT_URL' : 'LIVEKIT_PUBLIC_URL';
  const given = values.LIVEKIT_PUBLIC_URL ?? values.LIVEKIT_URL;
  const url = given.replace(/^http/, 'ws');
  if (url.startsWith('wss:') || LOOPBACK_HOST.test(new URL(url).hostname)) return url;
  faults.push(
    `${name} is ${JSON.stringify(given)}, but clients are only given wss:// addresses, or ws:// of a loopback host: set LIVEKIT_PUBLIC_URL`,
  );
  return url;
}

/** Reads keys as ENCRYPTION_KEY has them, which its check has accepted. */
export function parseEncryptionKeys(text: string): readonly [Buffer, ...Buffer[]] {
  const [current = Buffer.alloc(0), ...older] = text
    .split(',')
    .map((key) => Buffer.from(key, key.length === 64 ? 'hex' : 'base64'));
  return [current, ...older];
}

function encryptionKeys(values: SettingValues, faults: string[]) {
  const { ENCRYPTION_KEY: text, DATABASE_URL: databaseUrl } = values;
  if (text !== undefined) return parseEncryptionKeys(text);
  if (databaseUrl !== undefined) {
    faults.push(
      'ENCRYPTION_KEY is not set, but DATABASE_URL is: all instances need the same one (openssl rand -base64 32)',
    );
  }
  return undefined;
}

function trustedProxies(text: string): boolean | number | readonly string[] {
  if (text === 'off') return false;
  return /^\d+$/.test(text) ? Number(text) : text.split(',');
}

/** Both keys are undefined when they are looked for outside the settings. */
function bucketConfig(values: SettingValues, faults: string[]) {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = values;
  if (bucket === undefined) return undefined;
  const { S3_SESSION_TOKEN: sessionToken } = values;
  if (accessKey === undefined && secretKey !== undefined)
    faults.push('S3_ACCESS_KEY is not set, but S3_SECRET_KEY is');
  if (secretKey === undefined && accessKey !== undefined)
    faults.push('S3_SECRET_KEY is not set, but S3_ACCESS_KEY is');
  if (accessKey === undefined && secretKey === undefined && sessionToken !== undefined)
    faults.push('S3_ACCESS_KEY is not set, but S3_SESSION_TOKEN is');
  return {
    bucket,
    accessKey,
    secretKey,
    sessionToken,
    region: values.S3_REGION,
    endpoint: values.S3_ENDPOINT,
    publicEndpoint: values.S3_PUBLIC_ENDPOINT ?? values.S3_ENDPOINT,
    forcePathStyle: values.S3_FORCE_PATH_STYLE,
  };
}

type MetricsPlace = 'off' | 'signed' | { readonly host: string; readonly port: number };

function metricsConfig({ METRICS: text, METRICS_PORT: port, HOST: host }: SettingValues): MetricsPlace {
  if (port !== undefined && text !== 'off') return { host, port };
  if (text === 'off' || text === 'signed') return text;
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}

/** The default endpoint of the OpenTelemetry specification. */
const LOCAL_COLLECTOR = 'http://localhost:4318';

/** Undefined when tracing is off. */
function tracingConfig(values: SettingValues, faults: string[]) {
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
    resourceAttributes: readPairs(values.OTEL_RESOURCE_ATTRIBUTES),
    sampling: { name: values.OTEL_TRACES_SAMPLER, ratio: Number(values.OTEL_TRACES_SAMPLER_ARG) },
    export: to === 'console' ? { to } : { to, url, ...otlpSettings(values) },
  };
}

function otlpSettings(values: SettingValues) {
  return {
    protocol: values.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? values.OTEL_EXPORTER_OTLP_PROTOCOL,
    headers: {
      ...readPairs(values.OTEL_EXPORTER_OTLP_HEADERS),
      ...readPairs(values.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
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
function readPairs(text: string): Readonly<Record<string, string>> {
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

function toNetworks(text: string): readonly string[] {
  return text.split(',').filter((network) => network !== '');
}
