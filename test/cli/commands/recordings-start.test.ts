import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
  stack.media.control.join('demo', { identity: 'ada' });
});
afterAll(() => stack.close());

const start = (...argv: readonly string[]): Promise<Run> =>
  run(['recordings', 'start', 'demo', ...argv], { env: stack.environment });

describe('recordings start', () => {
  it('sends the options of the recording, and no body without options', async () => {
    const readBody = async (...argv: readonly string[]) => (await start(...argv, '--curl')).stdout;
    expect(await readBody('--layout', 'speaker', '--preset', 'H264_1080P_30')).toContain(
      '{"layout":"speaker","preset":"H264_1080P_30"}',
    );
    expect(await readBody('--audio-only')).toContain('{"audioOnly":true}');
    expect(await readBody('--record-tracks')).toContain('{"recordTracks":true}');
    expect(await readBody()).not.toContain('{');
  });

  it('starts a recording with its settings, and refuses those that have no effect', async () => {
    const refused = await start('--audio-only', '--layout', 'grid');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('no effect with audioOnly')]);
    expect((await start('--layout', 'tiles')).code).toBe(2);
    expect((await start('--layout', 'single-speaker')).code).toBe(0);
  });
});
