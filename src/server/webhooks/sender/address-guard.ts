import { type LookupAddress, type LookupAllOptions, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/*
 * Prevents server-side request forgery: a webhook's URL is foreign input and must not make this service call into its own
 * network. Every address that a name resolves to is checked when the connection is made, not before, so that the checked
 * address is the connected one, whatever the name resolves to a moment later. Only public unicast addresses and the networks
 * that the operator exempts are allowed.
 */

export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

export type AddressGuard = {
  /** Throws ForbiddenAddress for a forbidden literal address. Names pass, because `lookup` checks their addresses. */
  readonly checkHost: (hostname: string) => void;
  /** The `lookup` of the connector: fails for a name as soon as one of its addresses is forbidden. */
  readonly lookup: LookupFunction;
};

/** The part of node:dns's `lookup` that is needed here. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

type Address = ReturnType<typeof ipaddr.parse>;

/** `allowedNetworks`: CIDRs that are exempt from the check. */
export function createAddressGuard(
  allowedNetworks: readonly string[],
  resolve: Resolve = lookup,
): AddressGuard {
  const allowed = allowedNetworks.map((network) => ipaddr.parseCIDR(network));
  const isAllowed = (text: string): boolean => {
    const address = unwrap(ipaddr.parse(text));
    const isExempt = allowed.some(
      ([base, bits]) => base.kind() === address.kind() && address.match(base, bits),
    );
    return isExempt || isPublic(address);
  };
  const refuse = (): ForbiddenAddress =>
    new ForbiddenAddress('the address is private, loopback, link-local or otherwise not public');
  const resolveOnce = shareLookUps(resolve);
  return {
    checkHost: (hostname) => {
      const host = hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) !== 0 && !isAllowed(host)) throw refuse();
    },
    lookup: (hostname, options, callback) => {
      resolveOnce(hostname, options, (error, addresses) => {
        if (error !== null) return callback(error, '');
        if (addresses.some(({ address }) => !isAllowed(address))) return callback(refuse(), '');
        if (options.all === true) return callback(null, addresses);
        const [first] = addresses;
        if (first === undefined) return callback(new Error('the name has no address'), '');
        return callback(null, first.address, first.family);
      });
    },
  };
}

/**
 * Shares one look-up among concurrent callers with the same name. Each look-up occupies one of the four threads of libuv,
 * for long when the name server does not respond.
 */
function shareLookUps(resolve: Resolve) {
  type Callback = Parameters<Resolve>[2];
  const waiting = new Map<string, Callback[]>();
  return (hostname: string, options: LookupOptions, callback: Callback): void => {
    const key = JSON.stringify([hostname, options.family, options.hints]);
    const others = waiting.get(key);
    if (others !== undefined) {
      others.push(callback);
      return;
    }
    const callbacks = [callback];
    waiting.set(key, callbacks);
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      waiting.delete(key);
      for (const done of callbacks) done(error, addresses);
    });
  };
}

/** IPv4 inside IPv6 is judged as the IPv4 that it reaches: mapped, compatible, NAT64 and 6to4. */
function unwrap(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const { parts } = address;
  const isNat64 = parts[0] === 0x64 && parts[1] === 0xff9b && parts.slice(2, 6).every((part) => part === 0);
  if (isNat64) return fromParts(parts[6] ?? 0, parts[7] ?? 0);
  if (parts[0] === 0x2002) return fromParts(parts[1] ?? 0, parts[2] ?? 0);
  const isCompatible = parts.slice(0, 6).every((part) => part === 0) && (parts[6] ?? 0) !== 0;
  return isCompatible ? fromParts(parts[6] ?? 0, parts[7] ?? 0) : address;
}

function fromParts(high: number, low: number): Address {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

/** Public address of Azure's platform service, which returns secrets to every machine in Azure. */
const AZURE_PLATFORM = '168.63.129.16';
/** All IPv6 addresses that have been assigned (https://www.iana.org/assignments/ipv6-unicast-address-assignments). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * The library recognises private, loopback, link-local (metadata), carrier-grade NAT, multicast, unique local and reserved
 * addresses.
 */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv6
    ? address.match(GLOBAL_UNICAST)
    : address.toString() !== AZURE_PLATFORM;
}
