import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { RECORDING_SETTINGS, SPEECH_SETTINGS } from './media-settings.ts';
import {
  choiceSetting,
  HTTP,
  integerSetting,
  KEY,
  REQUIRED,
  type Setting,
  switchSetting,
  textSetting,
  urlSetting,
} from './setting.ts';
import { TRACING_SETTINGS } from './tracing-settings.ts';

const MEDIA = ['ws:', 'wss:', 'http:', 'https:'];

const SECOND_PER_YEAR = 31_536_000;

/** The first parts of the service's own paths. Below one of them it would be unclear whether a proxy has stripped BASE_PATH. */
const OWN_PATHS = 'cf docs it livekit llms.txt metrics openapi.json ready recordings v1'.split(' ');

/** Relative to the working directory. */
export const DEFAULT_DATA_DIR = '.rtc';

/** How much each API key may have. The root key has none of these limits. */
const KEY_SETTINGS = {
  MAX_WEBHOOKS_PER_KEY: integerSetting({
    meaning: 'Maximum number of webhooks that one API key may register, beside MAX_WEBHOOKS for all',
    fallback: 100,
    minimum: 1,
    maximum: 100_000,
  }),
  MAX_PLANS_PER_KEY: integerSetting({
    meaning: 'Maximum number of plans that one API key may make; 10000 for all together',
    fallback: 1000,
    minimum: 1,
    maximum: 10_000,
  }),
  MAX_VOCABULARIES_PER_KEY: integerSetting({
    meaning: 'Maximum number of rooms to which one API key may give a vocabulary',
    fallback: 1000,
    minimum: 1,
    maximum: 1_000_000,
  }),
  MAX_BLOCKS_PER_KEY: integerSetting({
    meaning: 'Maximum number of blocks by one API key that have not ended',
    fallback: 10_000,
    minimum: 1,
    maximum: 1_000_000,
  }),
} as const;

/** How long ended records are kept. */
const RETENTION_SETTINGS = {
  EVENT_RETENTION: days('How long events are kept', 30),
  DELIVERY_RETENTION: days('How long finished deliveries and their attempts are kept', 30),
  SESSION_RETENTION: days('How long sessions and their participants are kept after the end', 30),
  RECORDING_RETENTION: days(
    'How long recordings and their files are kept after the end; if unset, until you delete them',
    undefined as number | undefined,
  ),
  TRANSCRIPT_RETENTION: days(
    'How long transcriptions are kept after the end; if unset, until you delete them',
    undefined as number | undefined,
  ),
  USAGE_RETENTION: days('How long usage is kept, by day', 1095),
  AUDIT_RETENTION: days('How long audit entries are kept, and revoked and expired API keys', 365),
} as const;

function days<T extends number | undefined>(meaning: string, fallback: T): Setting<number | T> {
  return integerSetting({ meaning, fallback, minimum: 1, maximum: 3650, unit: 'days' });
}

/** Every environment variable that the service reads. */
export const SETTINGS = {
  API_KEY: textSetting({
    meaning: 'Key that callers send as X-Api-Key',
    fallback: REQUIRED as typeof REQUIRED | string,
    pattern: KEY,
    allowed: '1 to 256 printable ASCII characters without spaces',
  }),
  API_SECRET: textSetting({
    meaning: 'Secret that callers sign with',
    fallback: REQUIRED as typeof REQUIRED | string,
    secret: true,
    pattern: KEY,
    allowed: '1 to 256 printable ASCII characters without spaces',
  }),
  API_SECRET_PREVIOUS: textSetting({
    meaning: 'Former API_SECRET, still accepted on requests while you rotate secrets',
    fallback: undefined,
    secret: true,
    pattern: KEY,
    allowed: '1 to 256 printable ASCII characters without spaces',
  }),
  STRICT_SECRETS: switchSetting({
    meaning:
      'Refuse to start with a secret of under 32 characters, or (beyond loopback) with the same secret for service and media server',
    fallback: false,
  }),
  AUTH_SINGLE_HEADER: switchSetting({
    meaning: 'Also accept unsigned requests with the header X-API-Key: <API_SECRET>, which is less secure',
    fallback: false,
  }),
  HOST: textSetting({ meaning: 'Address to listen on', fallback: '127.0.0.1' }),
  PORT: integerSetting({
    meaning: 'Port to listen on; 0 picks a free one',
    fallback: 3000,
    minimum: 0,
    maximum: 65_535,
  }),
  SHUTDOWN_DELAY: integerSetting({
    meaning:
      'How long /ready returns 503 before the service stops listening, so that load balancers send no more requests',
    fallback: 0,
    minimum: 0,
    maximum: 300,
    unit: 'seconds',
  }),
  SERVICE_URL: urlSetting({
    meaning:
      'Address at which the media server and webhook receivers reach this service; default http://HOST:PORT',
    fallback: undefined,
    protocols: HTTP,
  }),
  BASE_PATH: {
    meaning:
      'Path under which a proxy serves this service, such as /rtc, whether the proxy strips it from requests or not; clients sign it. Default: the path of SERVICE_URL',
    allowed: `a path such as /rtc, of letters, digits and -._~, whose first part is none of ${OWN_PATHS.join(', ')}`,
    fallback: undefined,
    secret: false,
    parse: parseBasePath,
  } satisfies Setting<string | undefined>,
  TRUST_PROXY: textSetting({
    meaning:
      'Proxies in front of the service, for limits per address: addresses or CIDRs, separated by commas, or a number of hops',
    fallback: 'off',
    check: (text) => text === 'off' || /^\d{1,2}$/.test(text) || text.split(',').every(isAddressOrCidr),
    allowed: 'off, a hop count, or addresses and CIDRs separated by commas',
  }),
  LIVEKIT_URL: urlSetting({
    meaning: 'Address of the media server; with several nodes, that of a load balancer in front of them',
    fallback: 'ws://localhost:7880',
    protocols: MEDIA,
  }),
  LIVEKIT_PUBLIC_URL: urlSetting({
    meaning:
      'Address at which clients reach the media server, returned with tokens: wss, or ws for a loopback host; default LIVEKIT_URL',
    fallback: undefined,
    protocols: MEDIA,
  }),
  LIVEKIT_API_KEY: textSetting({
    meaning: "The media server's key; default API_KEY",
    fallback: undefined,
    pattern: KEY,
  }),
  LIVEKIT_API_SECRET: textSetting({
    meaning: "The media server's secret; default API_SECRET",
    fallback: undefined,
    secret: true,
    pattern: KEY,
  }),
  REDIS_URL: textSetting({
    meaning:
      "The media server's Redis (a single one), to see at once whether recorders and ingress workers are connected; without it the service finds out by trying",
    fallback: undefined,
    secret: true,
    check: isRedisUrl,
    allowed: 'a URL of the form redis://[user:password@]host[:port], or rediss:// for TLS',
  }),
  TOKEN_TTL: integerSetting({
    meaning: 'Lifetime of an access token',
    fallback: 3600,
    minimum: 1,
    maximum: SECOND_PER_YEAR,
    unit: 'seconds',
  }),
  MAX_TOKEN_TTL: integerSetting({
    meaning: 'Longest lifetime that a request may ask for; TOKEN_TTL if that is longer',
    fallback: 86_400,
    minimum: 1,
    maximum: SECOND_PER_YEAR,
    unit: 'seconds',
  }),
  DATA_DIR: textSetting({
    meaning: 'Folder of the SQLite file, the encryption key, local recordings and development secrets',
    fallback: DEFAULT_DATA_DIR,
  }),
  DATABASE_URL: textSetting({
    meaning:
      'PostgreSQL database (postgres://…), needed for several instances; default: a SQLite file in DATA_DIR',
    fallback: undefined,
    secret: true,
    pattern: /^(postgres|postgresql):\/\/.+$/,
    allowed: 'a URL that begins with postgres:// or postgresql://',
  }),
  DATABASE_POOL_SIZE: integerSetting({
    meaning:
      'Connections of one instance to PostgreSQL; the sum of all instances must be below its max_connections',
    fallback: 10,
    minimum: 2,
    maximum: 1000,
  }),
  ...RECORDING_SETTINGS,
  ENCRYPTION_KEY: textSetting({
    meaning:
      'Keys that encrypt stored secrets, the current one first; default: a key file in DATA_DIR; required with PostgreSQL',
    fallback: undefined,
    secret: true,
    check: (text) => text.split(',').every((key) => isEncryptionKey(key)),
    allowed: 'one or more keys of 32 bytes in base64 or hex, separated by commas (openssl rand -base64 32)',
  }),
  WEBHOOK_ALLOWED_NETWORKS: textSetting({
    meaning: 'Networks that webhooks may reach although they are not public',
    fallback: '',
    check: (text) => text.split(',').every(isNetwork),
    allowed: 'CIDRs separated by commas, such as 10.0.0.0/8,fd00::/8; IPv4 as such, not within IPv6',
  }),
  BROADCAST_ALLOWED_NETWORKS: textSetting({
    meaning:
      'Networks that broadcasts may reach although they are not public; with 0.0.0.0/0, addresses are not looked at',
    fallback: '',
    check: (text) => text.split(',').every(isNetwork),
    allowed: 'CIDRs separated by commas, such as 10.0.0.0/8,fd00::/8; IPv4 as such, not within IPv6',
  }),
  WEBHOOK_PROXY_URL: textSetting({
    meaning:
      'Forward proxy for deliveries to webhooks; it must itself refuse internal addresses. Without it they are sent directly',
    fallback: undefined,
    secret: true,
    check: isProxyUrl,
    allowed:
      'a URL that begins with http:// or https://, with or without user and password, and without a path',
  }),
  MAX_WEBHOOKS: integerSetting({
    meaning: 'Maximum number of registered webhooks; each event may be delivered to all of them',
    fallback: 1000,
    minimum: 1,
    maximum: 100_000,
  }),
  ...KEY_SETTINGS,
  ...RETENTION_SETTINGS,
  ...SPEECH_SETTINGS,
  RATE_LIMIT_API: integerSetting({
    meaning: 'Requests per second and key under /v1; 0 turns the limit off',
    fallback: 200,
    minimum: 0,
    maximum: 1_000_000,
  }),
  RATE_LIMIT_PUBLIC: integerSetting({
    meaning:
      'Requests per second and address (of IPv6: /64 network) on public paths, and those refused with 401 or 403; 0 turns the limit off',
    fallback: 50,
    minimum: 0,
    maximum: 1_000_000,
  }),
  BODY_LIMIT: integerSetting({
    meaning: 'Largest request body',
    fallback: 1_048_576,
    minimum: 1024,
    maximum: 104_857_600,
    unit: 'bytes',
  }),
  FISCAL_API: switchSetting({ meaning: 'Serve the public paths /cf and /it', fallback: true }),
  LOG_LEVEL: choiceSetting({
    meaning: 'Least severe level to log',
    fallback: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
  METRICS: textSetting({
    meaning:
      'Prometheus metrics: for signed requests at /metrics of the service, or unsigned on a separate host:port',
    fallback: 'signed',
    check: (text) => text === 'off' || text === 'signed' || isHostAndPort(text),
    allowed: 'off, signed, or host:port',
  }),
  METRICS_PORT: integerSetting({
    meaning: 'Serve the metrics unsigned on this port of HOST, as METRICS=host:port does',
    fallback: undefined,
    minimum: 1,
    maximum: 65_535,
  }),
  ...TRACING_SETTINGS,
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

type SettingValue<S> = S extends Setting<infer T> ? Exclude<T, typeof REQUIRED> : never;

export type SettingValues = { readonly [Name in SettingName]: SettingValue<(typeof SETTINGS)[Name]> };

/** Returns the path without a slash at its end; undefined for a path that a proxy or a client could write in another way. */
export function parseBasePath(text: string): string | undefined {
  const path = text.replace(/(?<=[^/]|^)\/$/, '');
  const [, ...parts] = path.split('/');
  if (path !== '' && !path.startsWith('/')) return undefined;
  if (OWN_PATHS.includes(parts[0] ?? '')) return undefined;
  return parts.every((part) => /^[\w.~-]+$/.test(part) && !/^\.+$/.test(part)) ? path : undefined;
}

function isAddressOrCidr(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  // A zone (fe80::1%eth0) names a local interface and is not part of the addresses that are compared.
  if (version === 0 || address.includes('%') || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** IPv4-mapped addresses are compared as IPv4, so a network of IPv4-mapped addresses would never match. */
function isNetwork(text: string): boolean {
  if (!text.includes('/') || !isAddressOrCidr(text)) return false;
  const [address] = ipaddr.parseCIDR(text);
  return !(address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress());
}

/** The path may be a database number. Channels ignore it. */
function isRedisUrl(text: string): boolean {
  return (
    /^rediss?:\/\/(?:[^/?#@]*@)?(?:[\w.-]+|\[[0-9a-fA-F:]+\])(?::\d{1,5})?(?:\/\d*)?$/.test(text) &&
    URL.canParse(text)
  );
}

function isHostAndPort(text: string): boolean {
  const port = /^(?:[\w.-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})$/.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}

function isEncryptionKey(text: string): boolean {
  return /^[0-9a-fA-F]{64}$/.test(text) || /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
}

function isProxyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !HTTP.includes(url.protocol) || url.hostname === '') return false;
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return false;
  }
  return url.pathname === '/' && url.search === '' && url.hash === '';
}
