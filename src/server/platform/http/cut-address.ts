import ipaddr from 'ipaddr.js';

const IPV4_BITS = 24;
const IPV6_BITS = 48;

/** The network of an address, coarse enough not to be a person's: /24 of IPv4, /48 of IPv6. Undefined for no address. */
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
