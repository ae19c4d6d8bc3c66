import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ingress } from '../../../scripts/parts/go-toolchain.ts';
import type { Livekit } from './livekit.ts';
import type { Redis } from './redis.ts';
import { freePort, runPart, untilReady } from './run-part.ts';

export interface IngressOptions {
  /** The Redis of the media server. */
  readonly redis: Pick<Redis, 'address'>;
  readonly livekit: Pick<Livekit, 'url' | 'apiKey' | 'apiSecret'>;
  /** The RTMP port. The media server's configuration has `rtmp://127.0.0.1:<rtmpPort>/live`. */
  readonly rtmpPort: number;
  /** The port for WHIP, which is off without it. The media server's configuration has `http://127.0.0.1:<whipPort>/w`. */
  readonly whipPort?: number;
}

export interface Ingress {
  /** rtmp://127.0.0.1:PORT/live, to which a stream key is appended. */
  readonly rtmpUrl: string;
  readonly output: () => string;
  /** Ends it and the processes of its streams by SIGKILL. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Starts LiveKit's real ingress service. */
export async function startIngress(options: IngressOptions): Promise<Ingress> {
  const program = await ingress.find();
  if (program === undefined) throw new Error('the ingress service is not built: `npm test` builds it once');
  const folder = await mkdtemp(join(tmpdir(), 'rtc-ingress-'));
  const configFile = join(folder, 'ingress.yaml');
  const healthPort = await freePort();
  const ports = { healthPort, relayPort: await freePort(), udpPort: await freePort() };
  const config = ingressConfig(options, ports);
  await writeFile(configFile, JSON.stringify(config), { mode: 0o600 });
  // It starts one process of itself for each stream, and finds it as `ingress` on PATH.
  const binFolder = join(folder, 'bin');
  await mkdir(binFolder);
  await symlink(program, join(binFolder, 'ingress'));
  const part = runPart({
    name: 'ingress',
    program: join(binFolder, 'ingress'),
    args: ['--config', configFile],
    cwd: folder,
    env: { ...process.env, PATH: `${binFolder}${delimiter}${process.env.PATH}`, TMPDIR: folder },
    // On SIGTERM it waits until the streams end by themselves. SIGINT ends them.
    stopSignal: 'SIGINT',
  });
  const close = async () => {
    await part.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const isReady = async () => (await fetch(`http://127.0.0.1:${healthPort}/availability`)).ok;
    await untilReady(part, 'ingress', { isReady });
  } catch (cause) {
    await close();
    throw cause;
  }
  const kill = async () => {
    await part.kill();
    await rm(folder, { recursive: true, force: true });
  };
  return { rtmpUrl: toRtmpUrl(options.rtmpPort), output: part.output, kill, close };
}

/** Returns the ingress URL for the media server's configuration, before the ingress service is started. */
export function toRtmpUrl(rtmpPort: number): string {
  return `rtmp://127.0.0.1:${rtmpPort}/live`;
}

/** Returns the ingress URL of WHIP for the media server's configuration. */
export function toWhipUrl(whipPort: number): string {
  return `http://127.0.0.1:${whipPort}/w`;
}

type IngressPorts = { readonly healthPort: number; readonly relayPort: number; readonly udpPort: number };

/**
 * The number of cores that the service assumes for a stream. With its defaults (2 and more), and also with 0, it refuses
 * every stream on two busy cores.
 */
const noCost = -1000;

function ingressConfig(
  { redis, livekit, rtmpPort, whipPort = -1 }: IngressOptions,
  { healthPort, relayPort, udpPort }: IngressPorts,
): object {
  return {
    redis: { address: redis.address },
    api_key: livekit.apiKey,
    api_secret: livekit.apiSecret,
    ws_url: livekit.url,
    rtmp_port: rtmpPort,
    whip_port: whipPort,
    rtc_config: {
      udp_port: udpPort,
      node_ip: '127.0.0.1',
      use_external_ip: false,
      enable_loopback_candidate: true,
      interfaces: { includes: ['lo'] },
      // Without this list it would send clients to public STUN servers. Nothing listens at this address.
      stun_servers: [`127.0.0.1:${udpPort}`],
    },
    http_relay_port: relayPort,
    health_port: healthPort,
    logging: { level: 'info', json: false },
    cpu_cost: {
      rtmp_cpu_cost: noCost,
      whip_cpu_cost: noCost,
      whip_bypass_transcoding_cpu_cost: noCost,
      url_cpu_cost: noCost,
      min_idle_ratio: 0.000_1,
    },
  };
}
