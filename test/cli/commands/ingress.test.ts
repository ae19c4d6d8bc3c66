import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { readPort } from '../../support/forwarding-server.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { run } from '../support/run.ts';
import { startStack } from '../support/stack.ts';

describe('rtc ingress create', () => {
  it('warns when there is no address, or when nobody listens on it', async () => {
    const nowhere = `rtmp://127.0.0.1:${await freePort()}/live`;
    const other = await startStack({ ingressUrls: { rtmp: nowhere } });
    try {
      const create = (type: string) =>
        run(['ingress', 'create', 'stage', '--type', type, '--json', 'url'], { env: other.environment });
      const rtmp = await create('rtmp');
      expect([rtmp.code, rtmp.stdout]).toEqual([0, `{"url":"${nowhere}"}\n`]);
      expect(rtmp.stderr).toContain(`nothing accepts connections at ${nowhere} from here`);
      const whip = await create('whip');
      expect([whip.code, whip.stdout]).toEqual([0, '{"url":""}\n']);
      expect(whip.stderr).toContain('ingress.whip_base_url');
    } finally {
      await other.close();
    }
  });

  it('does not warn when a worker listens on the address', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const rtmp = `rtmp://127.0.0.1:${readPort(listener)}/live`;
    const other = await startStack({ ingressUrls: { rtmp } });
    try {
      const { code, stderr } = await run(['ingress', 'create', 'stage'], { env: other.environment });
      expect([code, stderr]).toEqual([0, '']);
    } finally {
      await other.close();
      listener.close();
    }
  });
});
