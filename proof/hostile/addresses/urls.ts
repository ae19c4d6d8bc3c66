/* Every kind of address that a webhook must not reach, in every notation that some parser accepts. */

const IPV4 = [
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.254', '192.168.1.1'],
  ...['169.254.169.254', '169.254.170.2', '100.100.100.200', '100.64.0.1', '192.0.0.192', '168.63.129.16'],
  ...['198.18.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
];

const IPV6 = [
  ...['::', '::1', 'fe80::1', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', '2001:db8::1', '100::1'],
  // IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo.
  ...[
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    '::127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
  ],
  ...['64:ff9b:1::127.0.0.1', '2002:7f00:1::', '2002:a9fe:a9fe::', '2002:c0a8:101::', '2001:0:7f00:1::'],
];

const ODD_FORMS = [
  ...[
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0x7F.1',
    '0177.0.0.1',
    '017700000001',
    '127.1',
    '127.0.1',
    '0',
    '0x0',
  ],
  ...[
    '127.0.0.1.',
    '127%2e0%2e0%2e1',
    '127。0。0。1',
    '127．0．0．1',
    '①②⑦.⓪.⓪.①',
    '１２７.０.０.１',
    '2852039166',
  ],
  ...[
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    'user:password@127.0.0.1',
    'example.com@127.0.0.1',
    '[0:0:0:0:0:ffff:7f00:1]',
  ],
  ...['localhost', 'LOCALHOST', 'localhost.', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
];

/**
 * 127.0.0.9, which the operator allows. It stands beside a forbidden address: one forbidden address is enough for a
 * refusal.
 */
const ALLOWED_HEX = '7f000009';

export function forbiddenUrls(port: number): readonly string[] {
  const hosts = [
    ...IPV4,
    ...IPV6.map((address) => `[${address}]`),
    ...ODD_FORMS,
    ...IPV4.map((address, index) => `n${index}--${hexOf(address)}.names.test`),
    ...IPV4.map((address, index) => `m${index}--${ALLOWED_HEX}-${hexOf(address)}.names.test`),
    ...['n--00000000000000000000000000000001.names.test', 'n--00000000000000000000ffff7f000001.names.test'],
    ...['n--fe800000000000000000000000000001.names.test', 'n--0064ff9b00000000000000007f000001.names.test'],
  ];
  return hosts.map((host) => `http://${host}:${port}/inside`);
}

function hexOf(address: string): string {
  return Buffer.from(address.split('.').map(Number)).toString('hex');
}
