import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const rtc = (line: string): Promise<Run> => run(line.split(' '), { env: stack.environment });

let number = 0;
let room: string;
beforeEach(async () => {
  number += 1;
  room = `lesson-${number}`;
  await rtc(`rooms create ${room} --lobby`);
});

/** Lets somebody wait, with the token that the command gives. */
async function wait(identity: string): Promise<void> {
  const { stdout } = await rtc(
    `tokens create --room ${room} --identity ${identity} --role participant --json`,
  );
  const { token } = JSON.parse(stdout);
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await fetch(`${stack.media.url}/embedded/join`, { method: 'POST', headers });
  expect(status).toBe(200);
}

const names = async (): Promise<readonly string[]> => {
  const { waiting } = JSON.parse((await rtc(`rooms waiting ${room} --json identity`)).stdout);
  return waiting.map(({ identity }: { identity: string }) => identity);
};

describe('rtc rooms waiting, admit and deny', () => {
  it('list who waits, and say when nobody does or there is no lobby', async () => {
    expect(await rtc(`rooms waiting ${room}`)).toMatchObject({
      code: 0,
      stderr: `Nobody waits for ${room}.\n`,
    });
    await wait('ada');
    const { stdout } = await rtc(`rooms waiting ${room}`);
    expect(stdout).toMatch(/^ada\t\S*\tparticipant\t\d{4}-\d\d-\d\dT\S+Z\n$/);
    const without = await rtc('rooms waiting elsewhere');
    expect(without).toMatchObject({ code: 0, stdout: '' });
    expect(without.stderr).toContain('rtc rooms create elsewhere --lobby');
  });

  it('admit those who are named, and everybody with --all', async () => {
    for (const identity of ['ada', 'bob', 'eve']) await wait(identity);
    const admitted = await rtc(`rooms admit ${room} bob`);
    expect(admitted).toMatchObject({ code: 0, stdout: expect.stringMatching(/^bob\t/) });
    expect(admitted.stdout).not.toContain('eyJ');
    expect(await names()).toEqual(['ada', 'eve']);
    const all = await rtc(`rooms admit ${room} --all --json`);
    const { admitted: people } = JSON.parse(all.stdout);
    expect(people.map(({ identity }: { identity: string }) => identity)).toEqual(['ada', 'eve']);
    expect(people[0].token).toMatch(/^eyJ/);
    expect(await names()).toEqual([]);
    expect((await rtc(`rooms admit ${room} --all`)).stderr).toContain(`Nobody waits for ${room}.`);
  });

  it('deny somebody, who cannot be admitted afterwards', async () => {
    await wait('eve');
    expect(await rtc(`rooms deny ${room} eve`)).toMatchObject({ code: 0, stderr: 'Denied eve.\n' });
    expect(await names()).toEqual([]);
    expect((await rtc(`rooms admit ${room} eve`)).code).toBe(3);
    expect((await rtc(`rooms deny ${room} nobody`)).code).toBe(3);
  });

  it('refuse identities beside --all, and neither of them', async () => {
    for (const line of [`rooms admit ${room} ada --all`, `rooms admit ${room}`])
      expect(await rtc(line)).toMatchObject({ code: 2, stderr: expect.stringContaining('--all') });
  });
});
