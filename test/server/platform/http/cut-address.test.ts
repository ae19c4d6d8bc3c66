import { expect, it } from 'vitest';
import { cutAddress } from '../../../../src/server/platform/http/limits/rate-limits.ts';

it.each([
  ['203.0.113.77', '203.0.113.0/24'],
  ['127.0.0.1', '127.0.0.0/24'],
  ['::ffff:203.0.113.77', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8:ffff:ffff::1', '2001:db8:ffff::/48'],
  ['::1', '::/48'],
  ['fe80::1%eth0', 'fe80::/48'],
  ['', undefined],
  ['a name', undefined],
  [undefined, undefined],
])('an address is cut from %s to %s', (address, network) => {
  expect(cutAddress(address, { ipv4: 24, ipv6: 48 })).toBe(network);
});
