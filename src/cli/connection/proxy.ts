import { usageError } from '../errors/cli-error.ts';
import type { Environment } from '../terminal/io.ts';

/** A proxy of the environment. The URL may contain a password. */
export type ProxySetting = {
  readonly url: URL;
  readonly variable: ProxyVariable;
};

type ProxyVariable = 'HTTPS_PROXY' | 'HTTP_PROXY';

/** Applies if NO_PROXY is not set. */
const THIS_MACHINE = 'localhost,127.0.0.1,::1';

/**
 * Returns the proxy that the environment names for an address; undefined if there is none, or if NO_PROXY lists the address.
 * @throws CliError if the variable is not a URL. The message does not contain its value, which may contain a password.
 */
export function proxyFor(address: string, env: Environment): ProxySetting | undefined {
  const target = new URL(address);
  const variable = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = readVariable(variable, env) ?? '';
  if (value === '') return undefined;
  const url = parseProxy(value);
  if (url === undefined) {
    throw usageError(
      `${variable} is not an address such as http://proxy.example.org:3128`,
      'correct it, or unset it; see: rtc help environment',
    );
  }
  return isListed(target, readVariable('NO_PROXY', env) ?? THIS_MACHINE) ? undefined : { url, variable };
}

function readVariable(variable: ProxyVariable | 'NO_PROXY', env: Environment): string | undefined {
  return env[variable.toLowerCase()] ?? env[variable];
}

function parseProxy(value: string): URL | undefined {
  try {
    const url = new URL(value);
    // The agent decodes them, and fails for a percent sign that encodes nothing.
    decodeURIComponent(url.username + url.password);
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a list such as `localhost,.example.org,10.0.0.1:3000` has the host of an address. A name includes the names below
 * it, `*.example.org` only those, and `*` is every host.
 */
function isListed({ protocol, hostname, port }: URL, list: string): boolean {
  const host = withoutBrackets(hostname).replace(/\.$/, '');
  const hostPort = port === '' ? PORTS[protocol] : port;
  return list.split(/[,\s]+/).some((entry) => {
    const [, listed = entry, listedPort = hostPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    if (listed === '' || listedPort !== hostPort) return false;
    if (listed === '*') return true;
    const name = withoutBrackets(listed.toLowerCase())
      .replace(/^\*?\./, '')
      .replace(/\.$/, '');
    return host.endsWith(`.${name}`) || (host === name && !listed.startsWith('*'));
  });
}

const PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.+)\]$/, '$1');
}
