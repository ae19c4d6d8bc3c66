import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const rtc = (args: readonly string[], stdin?: string): Promise<Run> =>
  run([...args], { env: stack.environment, ...(stdin === undefined ? {} : { stdin }) });

describe('vocabulary', () => {
  it('is set, shown and deleted', async () => {
    const set = await rtc(['vocabulary', 'set', 'demo', 'Ada Lovelace', 'LiveKit']);
    expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('Ada Lovelace, LiveKit') });
    expect((await rtc(['vocabulary', 'get', 'demo', '--json'])).stdout).toBe(
      '{"terms":["Ada Lovelace","LiveKit"]}\n',
    );
    expect((await rtc(['vocabulary', 'delete', 'demo'])).stderr).toBe('demo has no vocabulary.\n');
    expect((await rtc(['vocabulary', 'get', 'demo', '--json'])).stdout).toBe('{"terms":[]}\n');
  });

  it('is read from stdin, one term a line', async () => {
    expect((await rtc(['vocabulary', 'set', 'demo', '-'], 'Ada Lovelace\nLiveKit\n')).code).toBe(0);
    expect((await rtc(['vocabulary', 'get', 'demo', '--json'])).stdout).toBe(
      '{"terms":["Ada Lovelace","LiveKit"]}\n',
    );
  });

  it('refuses an invalid term with exit code 2', async () => {
    const refused = await rtc(['vocabulary', 'set', 'demo', '--', '---']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('letter or digit')]);
  });
});
