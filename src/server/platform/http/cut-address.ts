import ipaddr from 'ipaddr.js';

const IPV4_BITS = 24;
const IPV6_BITS = 48;

/**
 * Returns the network of an address, coarse enough not to identify a person: /24 of IPv4, /48 of IPv6. Undefined without an
 * address.
 */
export function cutAddress(text: string | undefined): string | undefined {
  // A zone (fe80::1%eth0) names an interface of this machine.
  const [address = ''] = (text ?? '').split('%');
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) {
    const cidr = `${parsed}/${IPV4_BITS}`;
    return `${ipaddr.IPv4.networkAddressFromCIDR(cidr)}/${IPV4_BITS}`;
  }
  const cidr = `${parsed}/${IPV6_BITS}`;
  return `${ipaddr.IPv6.networkAddressFromCIDR(cidr)}/${IPV6_BITS}`;
}
