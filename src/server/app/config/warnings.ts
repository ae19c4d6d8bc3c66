import ipaddr from 'ipaddr.js';
import { nearest } from '../../../contract/nearest.ts';
import type { Environment } from './environment.ts';
import { SETTINGS } from './settings.ts';

/** The effective settings that cause warnings. */
export type RiskySettings = {
  readonly host: string;
  /** The current secret first, then the previous one. */
  readonly apiSecrets: readonly string[];
  readonly livekit: { readonly apiSecret: string };
  readonly acceptsSingleHeader: boolean;
  readonly metrics: 'off' | 'signed' | { readonly host: string };
  readonly webhookAllowedNetworks: readonly string[];
  readonly broadcastAllowedNetworks: readonly string[];
  readonly unknownSettings: readonly string[];
};

/** Beginnings of names that hardly any other program uses. */
const OWN_PREFIXES = [
  'S3_',
  'RECORDING_',
  'RECORDER_',
  'RATE_LIMIT_',
  'STT_',
  'WEBHOOK_',
  'BROADCAST_',
] as const;

/**
 * Variables that Kubernetes sets for a service of the same name, such as LIVEKIT_URL_PORT_80_TCP, and those of OpenTelemetry,
 * of which ours are a part.
 */
const OF_OTHERS = /^OTEL_|_(?:SERVICE_(?:HOST|PORT\w*)|PORT_\d+_(?:TCP|UDP)\w*|PORT)$/;

/**
 * Warns of variables that look like a setting and are none: those that begin like only ours do, and those that are nearly the
 * name of one and begin with the same word. Their values are not shown.
 */
export function listUnknownSettings(environment: Environment): readonly string[] {
  const secrets = Object.entries(SETTINGS).filter(([, { secret }]) => secret);
  const known = [...Object.keys(SETTINGS), ...secrets.map(([name]) => `${name}_FILE`)];
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || known.includes(name) || OF_OTHERS.test(name)) continue;
    const isOwn = OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
    const [word = ''] = name.split('_', 1);
    const alike = isOwn ? known : known.filter((each) => each.startsWith(`${word}_`));
    const near = name.includes('_') ? nearest(name, alike) : undefined;
    if (near !== undefined) warnings.push(`${name} is no setting, and has no effect; did you mean ${near}?`);
    else if (isOwn) warnings.push(`${name} is no setting, and has no effect`);
  }
  return warnings;
}

/** LiveKit's minimum for its secrets. An attacker who has a signature can guess shorter secrets offline. */
const MIN_SECRET_LENGTH = 32;

/** Returns a sentence for each setting that is allowed but unwise, without values of secrets. */
export function listWarnings(settings: RiskySettings): readonly string[] {
  return [...settings.unknownSettings, ...secretWarnings(settings), ...exposureWarnings(settings)];
}

/** The warnings that stop the start with STRICT_SECRETS. */
export function secretWarnings({
  host,
  apiSecrets,
  livekit,
}: Pick<RiskySettings, 'host' | 'apiSecrets' | 'livekit'>): readonly string[] {
  const names = ['API_SECRET', 'API_SECRET_PREVIOUS'];
  const warnings = apiSecrets.flatMap((secret, index) => {
    const name = names[index] ?? '';
    return [...shortSecret(name, secret), ...quotedSecret(name, secret)];
  });
  warnings.push(...quotedSecret('LIVEKIT_API_SECRET', livekit.apiSecret));
  if (isLoopback(host)) return warnings;
  if (apiSecrets.includes(livekit.apiSecret)) {
    warnings.push(
      'LIVEKIT_API_SECRET is the same as API_SECRET, and every participant has a signature by it; ' +
        'give the media server a key and secret of its own: openssl rand -hex 32',
    );
  } else {
    warnings.push(...shortSecret('LIVEKIT_API_SECRET', livekit.apiSecret));
  }
  return warnings;
}

function shortSecret(name: string, secret: string): string[] {
  if (secret.length >= MIN_SECRET_LENGTH) return [];
  return [
    `${name} has ${secret.length === 1 ? '1 character' : `${secret.length} characters`}; at least ${MIN_SECRET_LENGTH} are safe: openssl rand -hex 32`,
  ];
}

/** Shells and Docker treat quotes in different ways, so that the other side may have the secret without them. */
function quotedSecret(name: string, secret: string): string[] {
  return /^(["']).+\1$/.test(secret) ? [`${name} is in quotes, which are part of the secret`] : [];
}

function exposureWarnings(settings: RiskySettings): string[] {
  const { host, acceptsSingleHeader, metrics } = settings;
  const warnings: string[] = [];
  if (acceptsSingleHeader && !isLoopback(host)) {
    warnings.push(`AUTH_SINGLE_HEADER is on, and HOST is ${host}: each request sends the secret itself`);
  }
  if (typeof metrics === 'object' && !isLoopback(metrics.host)) {
    warnings.push(`METRICS is on ${metrics.host}: anyone who reaches that address can read the metrics`);
  }
  for (const network of settings.webhookAllowedNetworks.filter(isEverything)) {
    warnings.push(`WEBHOOK_ALLOWED_NETWORKS has ${network}: webhooks may reach every internal address`);
  }
  for (const network of settings.broadcastAllowedNetworks.filter(isEverything)) {
    warnings.push(`BROADCAST_ALLOWED_NETWORKS has ${network}: broadcasts may reach every internal address`);
  }
  return warnings;
}

function isEverything(network: string): boolean {
  return ipaddr.parseCIDR(network)[1] === 0;
}

export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(host);
}

/** A name without a dot is mostly a container on this machine, which has the same clock. */
export function isOnOtherMachine(url: string | undefined): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /[.:]/.test(hostname) && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}
