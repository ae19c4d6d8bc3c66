import { createServer } from 'node:http';
import { postMediaEvent, roomFinished } from '../../../test/server/webhooks/support/media-webhook.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { exactly, observed } from '../../figures.ts';
import { listen } from '../../support/listen.ts';
import { attackTarget, findFirstAttempt, register, type Target } from '../target.ts';
import { ATTEMPT } from './attempt.ts';

/** The only address that the operator allows. It represents the attacker's public server. */
const PUBLIC = '127.0.0.9';
/** The short run tries every ninth URL. This includes some of each kind. */
const EVERY = { long: 1, short: 9 } as const;
const BATCH = 20;
const ABSENT = /private, loopback|name is not known|could not be looked up/;

/* Every kind of address that a webhook must not reach, in every notation that some parser accepts. */

const IPV4 = `127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.254 192.168.1.1
  169.254.169.254 169.254.170.2 100.100.100.200 100.64.0.1 192.0.0.192 168.63.129.16
  198.18.0.1 192.0.2.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255`.split(/\s+/);

/** The last ones contain an IPv4 address: mapped, compatible, NAT64, 6to4, Teredo. */
const IPV6 = `:: ::1 fe80::1 fec0::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 100::1
  ::ffff:127.0.0.1 ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe
  64:ff9b:1::127.0.0.1 2002:7f00:1:: 2002:a9fe:a9fe:: 2002:c0a8:101:: 2001:0:7f00:1::`.split(/\s+/);

const ODD_FORMS = `2130706433 0x7f000001 0x7f.0.0.1 0x7F.1 0177.0.0.1 017700000001 127.1 127.0.1 0 0x0
  127.0.0.1. 127%2e0%2e0%2e1 127。0。0。1 127．0．0．1 ①②⑦.⓪.⓪.① １２７.０.０.１ 2852039166
  0xa9fea9fe 0251.0376.0251.0376 user:password@127.0.0.1 example.com@127.0.0.1 [0:0:0:0:0:ffff:7f00:1]
  localhost LOCALHOST localhost. ⓛⓞⓒⓐⓛⓗⓞⓢⓣ`.split(/\s+/);

/**
 * 127.0.0.9, which the operator allows. It stands beside a forbidden address: one forbidden address is enough for a
 * refusal.
 */
const ALLOWED_HEX = '7f000009';

export const forbiddenAddresses: Experiment = {
  name: 'forbidden-addresses',
  run: (context) => {
    const environment = {
      WEBHOOK_ALLOWED_NETWORKS: `${PUBLIC}/32`,
      NODE_OPTIONS: `--import ${new URL('names.ts', import.meta.url)}`,
    };
    return attackTarget(context, { database: 'SQLite', environment }, (target) =>
      reachForbidden(target, context),
    );
  },
};

async function reachForbidden(
  target: Target,
  { runSize, report, cleanUp }: ExperimentContext,
): Promise<Findings> {
  const internal = cleanUp(await startInternal(PUBLIC));
  const urls = forbiddenUrls(internal.port).filter((_, index) => index % EVERY[runSize] === 0);
  const stage: Stage = { ...target, internal };
  const tally: Tally = { refused: 0, tested: 0, delivered: 0, wrong: [] };
  for (let at = 0; at < urls.length; at += BATCH) {
    await attackWith(urls.slice(at, at + BATCH), stage, tally);
    report(`${Math.min(at + BATCH, urls.length)} of ${urls.length} URLs`);
  }
  const rebound = await lureWith(stage, internal.port);
  for (const line of tally.wrong) report(line);
  const attempts = attemptsIn(target.log(), internal.port).filter((address) => address !== PUBLIC);
  for (const address of new Set(attempts)) report(`connection attempt to ${address}`);
  return {
    figures: [
      observed('URLs', urls.length),
      observed('URLs that were refused at registration', tally.refused),
      observed('tests of a webhook', tally.tested),
      observed('webhooks that got an event', tally.delivered),
      exactly('tests and deliveries that did not end with a refusal of the address', tally.wrong.length, 0),
      observed('requests that reached the allowed server, as they should', rebound.allowed),
      exactly('connection attempts to forbidden addresses', attempts.length, 0),
      exactly('requests that reached a forbidden address', internal.reached.length, 0),
    ],
  };
}

type Stage = Pick<Target, 'fleet' | 'instance' | 'livekit'> & {
  readonly internal: Awaited<ReturnType<typeof startInternal>>;
};

type Tally = { refused: number; tested: number; delivered: number; readonly wrong: string[] };

async function attackWith(urls: readonly string[], stage: Stage, tally: Tally): Promise<void> {
  const { fleet, instance, livekit } = stage;
  const webhooks: { readonly id: string; readonly url: string }[] = [];
  for (const url of urls) {
    const id = await register(stage, url);
    if (id === undefined) tally.refused += 1;
    else webhooks.push({ id, url });
  }
  for (const { id, url } of webhooks) {
    const test = Object(await fleet.call(instance, 'POST', `/v1/webhooks/${id}/test`));
    tally.tested += 1;
    if (test.delivered !== false || !ABSENT.test(test.error))
      tally.wrong.push(`test of ${url}: ${test.error}`);
  }
  await postMediaEvent(instance.url, roomFinished(`forbidden-${webhooks[0]?.id}`), livekit);
  for (const { id, url } of webhooks) {
    const error = (await findFirstAttempt(stage, id))?.error ?? 'no attempt was made';
    tally.delivered += 1;
    if (!ABSENT.test(error)) tally.wrong.push(`delivery to ${url}: ${error}`);
    await fleet.call(instance, 'DELETE', `/v1/webhooks/${id}`);
  }
}

/** Sends tests of webhooks to a redirect and to a rebound name. Returns how many requests arrived at the allowed server. */
async function lureWith(stage: Stage, port: number): Promise<{ readonly allowed: number }> {
  const { fleet, instance, internal } = stage;
  const lures = [
    `http://${PUBLIC}:${port}/redirect`,
    `http://n0--${ALLOWED_HEX}--then--7f000001.names.test:${port}/close`,
  ];
  for (const url of lures) {
    const id = await register(stage, url);
    for (let times = 0; times < 3; times += 1) await fleet.call(instance, 'POST', `/v1/webhooks/${id}/test`);
    await fleet.call(instance, 'DELETE', `/v1/webhooks/${id}`);
  }
  return { allowed: internal.allowed.length };
}

/**
 * Returns the addresses to which the process attempted a connection at this port. All URLs have this port; the media server
 * has another one.
 */
function attemptsIn(output: string, port: number): readonly string[] {
  return output.split('\n').flatMap((line) => {
    const at = line.indexOf(ATTEMPT);
    const [address = '', attempted] = line.slice(at + ATTEMPT.length).split(' ');
    return at >= 0 && attempted === `${port}` ? [address] : [];
  });
}

function forbiddenUrls(port: number): readonly string[] {
  const hosts = [
    ...IPV4,
    ...IPV6.map((address) => `[${address}]`),
    ...ODD_FORMS,
    ...IPV4.map((address, index) => `n${index}--${toHex(address)}.names.test`),
    ...IPV4.map((address, index) => `m${index}--${ALLOWED_HEX}-${toHex(address)}.names.test`),
    ...['n--00000000000000000000000000000001.names.test', 'n--00000000000000000000ffff7f000001.names.test'],
    ...['n--fe800000000000000000000000000001.names.test', 'n--0064ff9b00000000000000007f000001.names.test'],
  ];
  return hosts.map((host) => `http://${host}:${port}/inside`);
}

function toHex(address: string): string {
  return Buffer.from(address.split('.').map(Number)).toString('hex');
}

/** A server on every loopback address. One address represents a public server; no other may be reached. */
async function startInternal(publicAddress: string) {
  /** Addresses and paths of forbidden requests, and of those to the public address. */
  const [reached, allowed]: [string[], string[]] = [[], []];
  const server = createServer((request, response) => {
    const address = request.socket.localAddress?.replace('::ffff:', '') ?? '';
    (address === publicAddress ? allowed : reached).push(`${address}${request.url}`);
    const location = `http://127.0.0.1:${request.socket.localPort}/redirected`;
    const headers = { connection: 'close', location };
    response.writeHead(request.url === '/redirect' ? 307 : 500, headers).end();
  });
  return { ...(await listen(server, '::')), reached, allowed };
}
