import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultCacheDir, findCachedLivekitServer } from '../../../src/server/dev/binaries/go-binary.ts';
import type { Redis } from './redis.ts';
import { freePort, runPart, untilReady, withFreshPorts } from './run-part.ts';

export interface LivekitOptions {
  /** Without Redis there is no egress and no ingress, as with any single-node LiveKit. */
  readonly redis?: Pick<Redis, 'address'>;
  /** Receives the media server's signed webhooks. */
  readonly webhookUrl?: string;
  /** Default: a generated pair. */
  readonly apiKey?: string;
  readonly apiSecret?: string;
  /** Keys of workers, beside the one of the service. */
  readonly workerKeys?: Readonly<Record<string, string>>;
  /** Value of room.enable_remote_unmute. Absent by default. */
  readonly enableRemoteUnmute?: boolean;
  /** Port of the API. Default: a free one. */
  readonly port?: number;
  /** The URL that CreateIngress returns for RTMP. */
  readonly ingressRtmpUrl?: string;
  /** The URL that CreateIngress returns for WHIP. */
  readonly ingressWhipUrl?: string;
}

export interface Livekit {
  /** ws://127.0.0.1:PORT, for participants. */
  readonly url: string;
  /** http://127.0.0.1:PORT, for the API. */
  readonly httpUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  close(): Promise<void>;
  /** Kills it, as in a crash. */
  kill(): Promise<void>;
  /** Freezes it. It still accepts connections, but does not respond. */
  freeze(): void;
  thaw(): void;
}

/** Starts the real livekit-server in its pinned version on loopback. Its rooms end with it. */
export async function startLivekit(options: LivekitOptions = {}): Promise<Livekit> {
  const program = await findCachedLivekitServer(defaultCacheDir(process.env));
  if (program === undefined) throw new Error('livekit-server is not built: `npm test` builds it once');
  const apiKey = options.apiKey ?? `API${randomBytes(6).toString('hex')}`;
  const apiSecret = options.apiSecret ?? randomBytes(24).toString('hex');
  return withFreshPorts(async () => {
    const ports = { http: options.port ?? (await freePort()), tcp: await freePort(), udp: await freePort() };
    const configDir = await mkdtemp(join(tmpdir(), 'rtc-livekit-'));
    const configFile = join(configDir, 'livekit.yaml');
    const config = livekitConfig({ ...options, apiKey, apiSecret }, ports);
    // A file that only this user can read, because the settings contain the secret. JSON is valid YAML.
    await writeFile(configFile, JSON.stringify(config), { mode: 0o600 });
    const part = runPart({ name: 'livekit-server', program, args: ['--config', configFile] });
    const httpUrl = `http://127.0.0.1:${ports.http}`;
    const end = (stop: () => Promise<void>) => async () => {
      await stop();
      await rm(configDir, { recursive: true, force: true });
    };
    const close = end(part.close);
    try {
      await untilReady(part, 'livekit-server', { isReady: async () => (await fetch(httpUrl)).ok });
    } catch (cause) {
      await close();
      throw cause;
    }
    return {
      ...{ url: `ws://127.0.0.1:${ports.http}`, httpUrl, apiKey, apiSecret, close },
      ...{ kill: end(part.kill), freeze: part.freeze, thaw: part.thaw },
    };
  });
}

interface LivekitPorts {
  readonly http: number;
  readonly tcp: number;
  readonly udp: number;
}

function livekitConfig(
  options: LivekitOptions & { readonly apiKey: string; readonly apiSecret: string },
  ports: LivekitPorts,
): object {
  return {
    port: ports.http,
    bind_addresses: ['127.0.0.1'],
    keys: { [options.apiKey]: options.apiSecret, ...options.workerKeys },
    rtc: {
      tcp_port: ports.tcp,
      udp_port: ports.udp,
      node_ip: '127.0.0.1',
      use_external_ip: false,
      enable_loopback_candidate: true,
      interfaces: { includes: ['lo'] },
      // Without this list the server would send clients to public STUN servers. Nothing listens at this address.
      stun_servers: [`127.0.0.1:${ports.udp}`],
    },
    logging: { level: 'info', json: false },
    // The default node selector refuses rooms on a busy machine.
    node_selector: { kind: 'any' },
    ...(options.enableRemoteUnmute ? { room: { enable_remote_unmute: true } } : {}),
    ...(options.redis ? { redis: { address: options.redis.address } } : {}),
    ...(options.webhookUrl ? { webhook: { api_key: options.apiKey, urls: [options.webhookUrl] } } : {}),
    ingress: {
      ...(options.ingressRtmpUrl ? { rtmp_base_url: options.ingressRtmpUrl } : {}),
      ...(options.ingressWhipUrl ? { whip_base_url: options.ingressWhipUrl } : {}),
    },
  };
}
