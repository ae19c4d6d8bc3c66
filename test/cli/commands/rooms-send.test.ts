import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
  for (const identity of ['ada', 'bob']) stack.media.control.join('demo', { identity });
});
afterAll(() => stack.close());

const send = (argv: readonly string[], stdin?: string): Promise<Run> =>
  run(['rooms', 'send', 'demo', ...argv], {
    env: stack.environment,
    ...(stdin === undefined ? {} : { stdin }),
  });

describe('rooms send', () => {
  it('sends to everyone or to some, and prints the receivers', async () => {
    const all = await send(['hello', '--topic', 'greeting', '--json']);
    expect([all.code, (JSON.parse(all.stdout) as { sentTo: string[] }).sentTo.toSorted()]).toEqual([
      0,
      ['ada', 'bob'],
    ]);
    const some = await send(['hello', '--lossy', '--to', 'bob', '--to', 'eve']);
    expect(some).toMatchObject({ code: 0, stdout: 'SENT-TO\tbob\n' });
    expect((await send(['hello', '--to', 'eve'])).code).toBe(3);
  });

  it('takes the text from stdin, and bytes as base64', async () => {
    expect((await send(['-', '--base64'], 'AP8=\n')).code).toBe(0);
    const { code, stderr } = await send(['-', '--base64'], 'no base64');
    expect([code, stderr]).toEqual([2, expect.stringContaining('must be base64')]);
  });
});
