import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
export function startHaproxy(instances: readonly string[]): Promise<Haproxy> {
  const [a, b, c] = instances;
  if (c === undefined) throw new Error('the shipped configuration has three instances');
  return withFreshPorts(async () => {
    const [port, insidePort] = [await freePort(), await freePort()];
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

export interface PathProxy {
  /** The URL of the path, without which requests reach the service. */
  readonly strippingUrl: string;
  /** The URL of the path, with which requests reach the service. */
  readonly passingUrl: string;
  close(): Promise<void>;
}

/** Starts Debian's HAProxy on loopback, which serves a service under a path at two addresses. */
export function startPathProxy(service: string, path: string): Promise<PathProxy> {
  return withFreshPorts(async () => {
    const [stripping, passing] = [await freePort(), await freePort()];
    const folder = await mkdtemp(join(tmpdir(), 'rtc-path-proxy-'));
    const file = join(folder, 'haproxy.cfg');
    const strip = `  http-request replace-path ${path}(/)?(.*) /\\2`;
    const listen = (name: string, port: number, ...rules: readonly string[]): readonly string[] => [
      `listen ${name}`,
      `  bind 127.0.0.1:${port}`,
      `  http-request return status 404 if !{ path ${path} } !{ path_beg ${path}/ }`,
      ...rules,
      `  server service ${service}`,
    ];
    const defaults = [
      'defaults',
      '  mode http',
      '  timeout connect 2s',
      '  timeout client 60s',
      '  timeout server 60s',
    ];
    const lines = [...defaults, ...listen('stripping', stripping, strip), ...listen('passing', passing)];
    await writeFile(file, `${lines.join('\n')}\n`);
    const part = runPart({ name: 'haproxy', program: 'haproxy', args: ['-f', file] });
    const [strippingUrl, passingUrl] = [stripping, passing].map(
      (port) => `http://127.0.0.1:${port}${path}`,
    ) as [string, string];
    await untilReady(part, 'haproxy', { isReady: async () => (await fetch(`${strippingUrl}/v1/health`)).ok });
    const close = async () => {
      await part.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { strippingUrl, passingUrl, close };
  });
}
