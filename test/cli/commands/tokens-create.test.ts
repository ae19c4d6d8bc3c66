import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ environment: { MAX_TOKEN_TTL: '28800' } });
});
afterAll(() => stack.close());

const create = (...argv: readonly string[]): Promise<Run> =>
  run(['tokens', 'create', '--room', 'demo', '--identity', 'ada', ...argv], { env: stack.environment });

type Claims = {
  readonly exp: number;
  readonly iat: number;
  readonly video: { readonly canPublishSources?: readonly string[] };
};

describe('tokens create', () => {
  it('issues a token with the requested lifetime and grants', async () => {
    const argv = ['--valid-for', '8h', '--source', 'microphone', '--source', 'camera'];
    const { code, stdout } = await create('--role', 'participant', ...argv);
    expect(code).toBe(0);
    const claims: Claims = JSON.parse(Buffer.from(stdout.split('.')[1] ?? '', 'base64url').toString());
    expect(claims.exp - claims.iat).toBe(28_800);
    expect(claims.video.canPublishSources).toEqual(['microphone', 'camera']);
  });

  it('names the setting that allows a longer lifetime', async () => {
    const { code, stderr } = await create('--role', 'host', '--valid-for', '9h');
    expect([code, stderr]).toEqual([2, expect.stringContaining('MAX_TOKEN_TTL')]);
  });

  it('refuses an unknown source, and any of a viewer', async () => {
    const unknown = await create('--role', 'host', '--source', 'mic');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('not one of microphone')]);
    const viewer = await create('--role', 'viewer', '--source', 'camera');
    expect([viewer.code, viewer.stderr]).toEqual([2, expect.stringContaining('a viewer does not publish')]);
  });
});
