import { fileURLToPath } from 'node:url';
import { freePort, runPart, untilReady, withFreshPorts } from './run-part.ts';

export interface Haproxy {
  /** The URLs for callers and for the media server. */
  readonly url: string;
  readonly insideUrl: string;
  close(): Promise<void>;
}

/** The shipped configuration, unchanged. */
const CONFIGURATION = fileURLToPath(new URL('../../../deploy/haproxy/haproxy.cfg', import.meta.url));

/** Starts Debian's HAProxy on loopback in front of three instances, which are given as HOST:PORT. */
export function startHaproxy(instances: readonly [string, string, string]): Promise<Haproxy> {
  return withFreshPorts(async () => {
    const [port, insidePort] = [await freePort(), await freePort()];
    const [a, b, c] = instances;
    const part = runPart({
      name: 'haproxy',
      program: 'haproxy',
      args: ['-f', CONFIGURATION],
      env: {
        PATH: process.env.PATH,
        RTC_BIND: `127.0.0.1:${port}`,
        RTC_INSIDE_BIND: `127.0.0.1:${insidePort}`,
        RTC_A: a,
        RTC_B: b,
        RTC_C: c,
      },
    });
    const url = `http://127.0.0.1:${port}`;
    await untilReady(part, 'haproxy', { isReady: async () => (await fetch(`${url}/v1/health`)).ok });
    return { url, insideUrl: `http://127.0.0.1:${insidePort}`, close: part.close };
  });
}
