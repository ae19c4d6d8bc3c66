import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
  stack.media.control.join('demo', { identity: 'ada', name: 'Ada' });
});
afterAll(() => stack.close());

const rtc = (...argv: readonly string[]): Promise<Run> =>
  run(['participants', 'update', 'demo', ...argv], { env: stack.environment });

describe('participants update', () => {
  it('changes the given fields, and shows the participant', async () => {
    const json = ['--metadata', '{"team":"red"}', '--attributes', '{"hand":"raised","seat":null}'];
    const { code, stdout } = await rtc('ada', '--role', 'viewer', '--name', 'Ada L.', ...json, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      identity: 'ada',
      name: 'Ada L.',
      metadata: '{"team":"red"}',
      attributes: { 'rtc.role': 'viewer', hand: 'raised' },
      permission: { canPublish: false },
    });
    expect((await rtc('ada', '--role', 'host')).stdout).toContain('ROLE\thost\n');
  });

  it('refuses a call that changes nothing, an unknown role and attributes that are no texts', async () => {
    for (const [argv, words] of [
      [[], 'nothing to change'],
      [['--role', 'admin'], 'not one of host'],
      [['--attributes', '{"seat":7}'], 'neither a text nor null'],
      [['--attributes', '[]'], 'not an object'],
    ] as const) {
      const { code, stderr } = await rtc('ada', ...argv);
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    }
  });

  it('ends with 3 when nobody has this identity in the room', async () => {
    expect((await rtc('bob', '--name', 'Bob')).code).toBe(3);
  });
});
