import { splitLeadingOptions, withLeadingOptions } from '../../../src/cli/framework/parsing/read-input.ts';
import { parseCommand } from '../../../src/cli/main.ts';
import { REGISTRY } from '../../../src/cli/registry.ts';

/** Returns the words of every `rtc …` in a line of shell. */
export function rtcCalls(line: string): string[][] {
  return [...line.matchAll(/(?:^|[\s(])rtc ([^|<>)]*)/g)].map((match) =>
    [...(match[1] ?? '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      (word) => word[1] ?? word[2] ?? word[3] ?? '',
    ),
  );
}

/** Whether the command line has such a command with these arguments and options. */
export async function isUnderstood(words: readonly string[]): Promise<boolean> {
  const { noun, rest, leading } = splitLeadingOptions(words);
  const group = REGISTRY.find((entry) => entry.noun === noun);
  if (group === undefined) return false;
  return (await parseCommand(group, withLeadingOptions(group, rest, leading))).kind === 'invocation';
}
