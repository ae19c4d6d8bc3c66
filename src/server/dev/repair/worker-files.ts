import type { Config } from '../../app/config/config.ts';
import { livekitRedis } from '../redis.ts';

export type MediaWorkerKind = 'egress' | 'ingress';

/**
 * LiveKit's recommendation for a recording. On a machine with fewer processors the recorder accepts none unless its
 * configuration assumes less.
 */
const RECORDER_PROCESSORS = 4;

export type WorkerFileSource = {
  readonly livekit: Config['livekit'];
  readonly redisUrl: string;
  /** Processors of this machine. */
  readonly processors: number;
};

/**
 * Returns the configuration of LiveKit's egress or ingress worker, as YAML:
 * https://docs.livekit.io/transport/self-hosting/egress/.
 */
export function workerFile(
  kind: MediaWorkerKind,
  { livekit, redisUrl, processors }: WorkerFileSource,
): string {
  const common = {
    api_key: livekit.apiKey,
    api_secret: livekit.apiSecret,
    ws_url: livekit.url,
    redis: livekitRedis(new URL(redisUrl)),
  };
  const own = kind === 'egress' ? recorderSettings(processors) : { rtmp_port: 1935, whip_port: 8080 };
  const lines = Object.entries({ ...common, ...own });
  // JSON is valid YAML, and quotes secrets safely.
  return lines.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join('');
}

function recorderSettings(processors: number) {
  return processors < RECORDER_PROCESSORS ? { cpu_cost: { room_composite_cpu_cost: 2 } } : {};
}
