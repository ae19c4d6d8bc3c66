import { BlockList, isIP } from 'node:net';
import { printWarning, type Terminal } from '../../terminal/terminal.ts';

/** RFC 6890: this host, private, carrier-grade NAT, loopback, link-local, unique local. */
const NETWORKS: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
];

/** RFC 6761, 6762 and ICANN's name for private use; a name without a dot is one of the local network. */
const LOCAL_NAME = /^[^.]+\.?$|\.(?:localhost|local|internal)\.?$/i;

/** The service checks where a name leads when it delivers: what can be seen of the address itself is said at once. */
export function warnAboutPrivateAddress(terminal: Terminal, url: string): void {
  const host = hostOf(url);
  if (!isPrivate(host)) return;
  printWarning(
    terminal,
    `${host} is not public: the service delivers there only if its WEBHOOK_ALLOWED_NETWORKS names the network`,
  );
}

/** Without the brackets of IPv6. */
export function hostOf(url: string): string {
  return (URL.parse(url)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function isPrivate(host: string): boolean {
  if (host === '') return false;
  const version = isIP(host);
  if (version === 0) return LOCAL_NAME.test(host);
  const list = new BlockList();
  for (const [network, prefix] of NETWORKS) {
    list.addSubnet(network, prefix, isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  // Also of IPv4 written as IPv6 (::ffff:10.0.0.1).
  return list.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
