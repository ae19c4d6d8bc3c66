import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import {
  type AddressGuard,
  createAddressGuard,
  ForbiddenAddress,
  type Resolve,
} from '../../../../src/server/webhooks/sender/address-guard.ts';

/** Returns the host as a connector receives it: URL parsers normalise every notation of an address. */
const readHost = (host: string) => new URL(`http://${host}/`).hostname;

const isRefused = (guard: AddressGuard, host: string) => {
  try {
    guard.checkHost(readHost(host));
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ForbiddenAddress);
    return true;
  }
};

const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  'this host': ['0.0.0.0', '0.255.255.255', '[::]', '0'],
  loopback: ['127.0.0.1', '127.255.255.255', '[::1]'],
  'loopback in other spellings': ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1', '127.0.0.1.'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'link-local and the metadata service': [
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
    '[fe80::1]',
    '[febf::1]',
  ],
  'metadata services elsewhere': ['100.100.100.200', '192.0.0.192', '[fd00:ec2::254]', '168.63.129.16'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  multicast: ['224.0.0.0', '239.255.255.255', '[ff02::1]'],
  'broadcast and reserved': ['240.0.0.0', '255.255.255.255', '192.0.0.1', '198.18.0.0', '198.19.255.255'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '[2001:db8::1]', '[3fff::1]'],
  'unique local and site-local': ['[fc00::1]', '[fdff::1]', '[fec0::1]'],
  'IPv4 mapped into IPv6': [
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:169.254.169.254]',
  ],
  'IPv4-compatible': ['[::127.0.0.1]', '[::10.0.0.1]', '[::169.254.169.254]'],
  'IPv4-translated': ['[::ffff:0:127.0.0.1]', '[::ffff:0:10.0.0.1]'],
  NAT64: ['[64:ff9b::127.0.0.1]', '[64:ff9b::a00:1]', '[64:ff9b:1::7f00:1]'],
  '6to4': ['[2002:7f00:1::]', '[2002:a00:1::1]', '[2002:a9fe:a9fe::1]'],
  Teredo: ['[2001::1]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]'],
  'other special ones': ['[100::1]', '[2001:2::1]', '[2001:10::1]', '[5f00::1]'],
  'not given to anyone': ['[4000::1]', '[8000::1]', '[1000::1]'],
};

const PUBLIC = [
  ...[
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0'],
  ...[
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '168.63.129.15',
    '[2606:4700::1111]',
    '[2a00:1450::1]',
  ],
  ...['[::ffff:1.1.1.1]', '[64:ff9b::101:101]', '[2002:101:101::1]'],
];

describe('the guard of addresses', () => {
  const guard = createAddressGuard([]);

  for (const [kind, hosts] of Object.entries(FORBIDDEN)) {
    it(`rejects ${kind}`, () => {
      expect(hosts.filter((host) => !isRefused(guard, host))).toEqual([]);
    });
  }

  it('allows public addresses, also directly beside the forbidden ones', () => {
    expect(PUBLIC.filter((host) => isRefused(guard, host))).toEqual([]);
  });

  it('allows names until they are looked up', () => {
    expect(isRefused(guard, 'localhost')).toBe(false);
  });

  it('exempts the networks of the operator and not one address more', () => {
    const exempting = createAddressGuard(['10.1.2.0/24', 'fd00:1::/64']);
    const passing = ['10.1.2.0', '10.1.2.255', '[::ffff:10.1.2.3]', '[fd00:1::5]'];
    expect(passing.filter((host) => isRefused(exempting, host))).toEqual([]);
    const refused = ['10.1.1.255', '10.1.3.0', '[fd00:1:0:1::5]', '127.0.0.1'];
    expect(refused.filter((host) => !isRefused(exempting, host))).toEqual([]);
  });
});

/** A resolver whose addresses the test gives, and which counts its calls. */
function resolving(...lookUps: readonly (readonly string[])[]) {
  let calls = 0;
  const resolve: Resolve = (_hostname, _options, callback) => {
    const addresses = lookUps[Math.min(calls, lookUps.length - 1)] ?? [];
    calls += 1;
    setImmediate(() => callback(null, addresses.map(asAddress)));
  };
  return { resolve, calls: () => calls };
}

const asAddress = (address: string): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 });

const lookUp = (guard: AddressGuard, all: boolean) =>
  new Promise((resolve, reject) => {
    guard.lookup('hooks.example', { all }, (error, address) => {
      if (error === null) resolve(address);
      else reject(error);
    });
  });

describe('a look-up through the guard', () => {
  it('returns public addresses, all of them or the first', async () => {
    const guard = createAddressGuard([], resolving(['1.1.1.1', '2606:4700::1111']).resolve);
    expect(await lookUp(guard, true)).toEqual([asAddress('1.1.1.1'), asAddress('2606:4700::1111')]);
    expect(await lookUp(guard, false)).toBe('1.1.1.1');
  });

  it('rejects a name with one forbidden address among public ones', async () => {
    const guard = createAddressGuard([], resolving(['1.1.1.1', '10.0.0.1']).resolve);
    await expect(lookUp(guard, true)).rejects.toBeInstanceOf(ForbiddenAddress);
    await expect(lookUp(guard, false)).rejects.toBeInstanceOf(ForbiddenAddress);
  });

  it('checks the result of every look-up', async () => {
    const guard = createAddressGuard([], resolving(['1.1.1.1'], ['127.0.0.1']).resolve);
    expect(await lookUp(guard, false)).toBe('1.1.1.1');
    await expect(lookUp(guard, false)).rejects.toBeInstanceOf(ForbiddenAddress);
  });

  it('looks a name up once for all concurrent callers', async () => {
    const { resolve, calls } = resolving(['1.1.1.1']);
    const guard = createAddressGuard([], resolve);
    await Promise.all([lookUp(guard, true), lookUp(guard, true), lookUp(guard, true)]);
    expect(calls()).toBe(1);
    await lookUp(guard, true);
    expect(calls()).toBe(2);
  });

  it('rejects a name without an address', async () => {
    await expect(lookUp(createAddressGuard([], resolving([]).resolve), false)).rejects.toThrow('no address');
  });
});
