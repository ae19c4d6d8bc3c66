import { expect, it } from 'vitest';
import { parseCommand } from '../../../src/cli/main.ts';
import { findGroup } from '../../../src/cli/registry.ts';

it.each([
  ['--json demo ada', 'ada'],
  ['--json demo -- -ada', '-ada'],
])('a word after --json that is an argument stays one: %s', async (line, identity) => {
  const group = findGroup('participants');
  if (group === undefined) throw new Error('there is no such group');
  const parsed = await parseCommand(group, ['remove', ...line.split(' ')]);
  if (parsed.kind !== 'invocation') throw new Error('it is no command');
  expect(parsed.invocation.words).toMatchObject({ room: 'demo', identity });
  expect(parsed.invocation.common.json).toBe(true);
});
