import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RtcClient } from '../../../src/client/client.ts';
import { run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

const KEY = 'rtmp://127.0.0.1:1935/live/secret-of-the-stream';

describe('rtc broadcast', () => {
  let stack: Stack;
  let client: RtcClient;

  beforeAll(async () => {
    stack = await startStack({ environment: { BROADCAST_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    client = new RtcClient(stack.service);
    await client.rooms.create({ name: 'demo' });
    await stack.media.control.join('demo', { identity: 'ada' });
    stack.media.control.publish('demo', 'ada');
  });

  afterAll(async () => {
    await client?.close();
    await stack?.close();
  });

  const rtc = (words: readonly string[], stdin?: string) =>
    run(words, { env: stack.environment, ...(stdin === undefined ? {} : { stdin }) });

  it('starts with URLs from stdin, shows their states without keys, adds, removes and stops', async () => {
    const started = await rtc(['broadcast', 'start', 'demo', '--url-stdin', '--hls', '--json'], `${KEY}\n`);
    expect(started).toMatchObject({ code: 0 });
    expect(JSON.parse(started.stdout)).toMatchObject({ status: 'broadcasting', roomId: 'demo' });
    const isActive = async () =>
      (await client.broadcasts.status('demo')).broadcast?.urls[0]?.state === 'active';
    await vi.waitUntil(isActive, { timeout: 60_000 });
    const status = await rtc(['broadcast', 'status', 'demo']);
    expect(status.stdout).toContain('rtmp://127.0.0.1:1935/live/*** active');
    const added = await rtc(['broadcast', 'update', 'demo', '--url-stdin', '--json'], `${KEY}-2\n`);
    const { urls } = JSON.parse(added.stdout);
    expect(urls).toHaveLength(2);
    const removed = await rtc(['broadcast', 'update', 'demo', '--remove', urls[0].urlId, '--json']);
    expect(JSON.parse(removed.stdout).urls[0]).toMatchObject({ state: 'removed' });
    const stopped = await rtc(['broadcast', 'stop', 'demo']);
    expect(stopped).toMatchObject({ code: 0, stdout: expect.stringContaining('stopped') });
    const listed = await rtc(['broadcast', 'list', '--room', 'demo']);
    expect(listed.stdout).toContain('bc_');
    for (const { stdout, stderr } of [started, status, added, removed, stopped, listed])
      expect(stdout + stderr).not.toContain('secret-of-the-stream');
  });

  it.each([
    [['broadcast', 'start', 'demo'], undefined, 'go nowhere'],
    [['broadcast', 'start', 'demo', '--url-stdin'], 'https://example.org/secret', 'line 1'],
    [['broadcast', 'start', 'demo', '--url-stdin'], '', 'no URL'],
    [['broadcast', 'update', 'demo'], undefined, 'nothing would change'],
  ] as const)('refuses %j with %j', async (words, stdin, said) => {
    const { code, stderr } = await rtc(words, stdin);
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
    expect(stderr).not.toContain('secret');
  });
});
