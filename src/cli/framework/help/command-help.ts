import { SEE_ROOT_HELP, usageError } from '../../errors/cli-error.ts';
import { didYouMean } from '../../errors/did-you-mean.ts';
import { helpWidth, type Io } from '../../terminal/io.ts';
import { matchesVerb } from '../command.ts';
import type { CommandGroup } from '../command-group.ts';
import { parseCommand } from '../parse.ts';
import { rootHelp } from './root-help.ts';
import { TOPICS } from './topics.ts';

/**
 * The help of a topic, of a noun, or of the command that the words name; of all without words.
 * @throws CliError (usage) for words that name nothing
 */
export async function helpOf(
  registry: readonly CommandGroup[],
  [first, ...rest]: readonly string[],
  io: Io,
): Promise<string> {
  if (first === undefined) return rootHelp(registry, { hasColours: false, width: helpWidth(io) });
  const topic = Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined;
  if (topic !== undefined) return topic;
  const group = registry.find(({ noun }) => noun === first);
  if (group === undefined) throw unknownSubject(first, registry);
  const { commands } = await group.load();
  const [verb, ...others] = rest;
  const isKnown = verb === undefined || commands.some((command) => matchesVerb(command, verb));
  if (!isKnown || others.length > 0) throw unknownVerb(group, rest);
  const parsed = await parseCommand(group, [...rest, '--help'], { width: helpWidth(io), hasColours: false });
  return parsed.kind === 'help' ? parsed.text : '';
}

function unknownVerb({ noun, verbs }: CommandGroup, rest: readonly string[]): Error {
  const [verb = ''] = rest;
  const suggestion = rest.length > 1 ? '' : didYouMean(verb, verbs);
  return usageError(
    `there is no help for '${noun} ${rest.join(' ')}'${suggestion}`,
    `see: rtc ${noun} --help`,
  );
}

function unknownSubject(subject: string, registry: readonly CommandGroup[]): Error {
  const known = [...Object.keys(TOPICS), ...registry.map(({ noun }) => noun)];
  return usageError(`there is no help for '${subject}'${didYouMean(subject, known)}`, SEE_ROOT_HELP);
}
