import ipaddr from 'ipaddr.js';

/** Leading bits of an address that are kept. */
type KeptBits = { readonly ipv4: number; readonly ipv6: number };

/**
 * Returns the network of an address, such as 203.0.113.0/24; undefined for a text that is no address. An IPv4 address in the
 * form of IPv6 (::ffff:203.0.113.9) is the IPv4 address.
 */
export function cutAddress(text: string | undefined, bits: KeptBits): string | undefined {
  // A zone (fe80::1%eth0) names an interface of this machine.
  const [address = ''] = (text ?? '').split('%');
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed}/${bits.ipv4}`)}/${bits.ipv4}`;
  }
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${bits.ipv6}`)}/${bits.ipv6}`;
}
