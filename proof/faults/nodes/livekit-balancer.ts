import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, runPart, untilReady, withFreshPorts } from '../../../test/support/parts/run-part.ts';

export type LivekitBalancer = { readonly port: number; readonly close: () => Promise<void> };

/** HAProxy with health checks in front of several LiveKit nodes, as LiveKit's documentation recommends. */
export function startLivekitBalancer(nodePorts: readonly number[]): Promise<LivekitBalancer> {
  return withFreshPorts(async () => {
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'rtc-balancer-'));
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, configuration(port, nodePorts));
    const part = runPart({ name: 'haproxy', program: 'haproxy', args: ['-f', file] });
    const isReady = async () => (await fetch(`http://127.0.0.1:${port}/`)).ok;
    await untilReady(part, 'haproxy', { isReady });
    const close = async () => {
      await part.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { port, close };
  });
}

/** A node that fails two checks in a row receives no further connections, and its open ones are closed. */
function configuration(port: number, nodePorts: readonly number[]): string {
  const servers = nodePorts.map(
    (node, index) =>
      `  server node${index} 127.0.0.1:${node} check inter 1s fall 2 rise 2 on-marked-down shutdown-sessions`,
  );
  return [
    'defaults',
    '  mode http',
    '  timeout connect 2s',
    '  timeout check 1s',
    '  timeout client 60s',
    '  timeout server 60s',
    '  timeout tunnel 1h',
    'listen livekit',
    `  bind 127.0.0.1:${port}`,
    '  balance roundrobin',
    '  option httpchk GET /',
    ...servers,
    '',
  ].join('\n');
}
