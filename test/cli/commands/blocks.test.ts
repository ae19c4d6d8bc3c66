import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const rtc = (line: string, options: Parameters<typeof run>[1] = {}): Promise<Run> =>
  run(line.split(' '), { ...options, env: { ...stack.environment, ...options.env } });

describe('blocks', () => {
  it('are created with a removal, listed and lifted', async () => {
    stack.media.control.join('demo', { identity: 'ada' });
    // The service removes a participant whose join it learns about after the block.
    await stack.media.control.webhooksSettled();
    const removed = await rtc('participants remove demo ada --block 1h30m --yes');
    expect(removed).toMatchObject({
      code: 0,
      stderr: 'Removed ada from demo and blocked it for 1h 30m.\n',
    });
    const absent = await rtc('participants remove demo bob --block forever --yes');
    expect(absent).toMatchObject({
      code: 0,
      stderr: 'Found no participant bob in demo and blocked it for ever.\n',
    });
    expect((await rtc('blocks list demo')).stdout).toMatch(
      /^ada\t\d{4}-\d\d-\d\dT\S+Z\t\d{4}\S+Z\nbob\tforever\t\d{4}\S+Z\n$/,
    );
    const { text } = await stack.service.call('GET', '/v1/rooms/demo/blocks');
    expect(JSON.parse((await rtc('blocks ls demo --json')).stdout)).toEqual(JSON.parse(text));
    expect((await rtc('blocks list')).stdout).toMatch(/^demo\tada\t.*\ndemo\tbob\tforever\t.*\n$/);
    const everywhere = await stack.service.call('GET', '/v1/blocks?limit=1');
    expect(everywhere.json).toMatchObject({
      blocks: [{ roomId: 'demo', identity: 'ada' }],
      nextCursor: expect.any(String),
    });
    expect(await rtc('blocks remove demo ada')).toMatchObject({
      code: 0,
      stderr: 'ada may join demo again.\n',
    });
    expect((await rtc('blocks list demo --json identity')).stdout).toBe(
      '{"blocks":[{"identity":"bob"}],"nextCursor":null}\n',
    );
    expect((await rtc('blocks remove demo ada')).code).toBe(3);
  });

  it('refuse a token with exit code 4, and say how to lift them', async () => {
    await rtc('participants remove kept eve --block forever --yes');
    const { code, stderr } = await rtc('tokens create --room kept --identity eve --role host');
    expect(code).toBe(4);
    expect(stderr).toContain('"eve" is blocked in room "kept" for ever');
    expect(stderr).toContain('rtc blocks remove kept eve');
  });

  it.each(['0', 'always', '-1h', '32y'])('refuse the duration %j', async (duration) => {
    const { code, stderr } = await rtc(`participants remove demo ada --block=${duration} --yes`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--block')]);
  });

  it('ask for a confirmation on a terminal, also when nobody is in the room', async () => {
    const { code, stderr } = await rtc('participants remove asked ada --block 1h');
    expect([code, stderr]).toEqual([2, expect.stringContaining('add --yes')]);
  });
});
