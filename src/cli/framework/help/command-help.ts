import { SEE_ROOT_HELP, usageError } from '../../errors/cli-error.ts';
import { didYouMean } from '../../errors/did-you-mean.ts';
import { helpWidth, type Io } from '../../terminal/io.ts';
import type { CommandGroup } from '../command-group.ts';
import { matchesVerb } from '../parameters.ts';
import { layOutHelp } from './layout.ts';
import { fullHelp, rootHelp } from './root-help.ts';
import { ALL, TOPICS } from './topics.ts';

/**
 * Returns the help of a topic, of a noun, or of the command that the words name; without words the whole help.
 * @throws CliError (usage) for unknown words
 */
export async function formatHelp(
  registry: readonly CommandGroup[],
  [first, ...rest]: readonly string[],
  io: Io,
): Promise<string> {
  if (first === undefined) return rootHelp(registry, { hasColours: false, width: helpWidth(io) });
  if (first === ALL && rest.length === 0)
    return fullHelp(registry, { hasColours: false, width: helpWidth(io) });
  const topic = Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined;
  if (topic !== undefined) return topic;
  const group = registry.find(({ noun }) => noun === first);
  if (group === undefined) throw unknownSubject(first, registry);
  const { commands } = await group.load();
  const [verb, ...others] = rest;
  const command =
    verb === undefined
      ? commands.find((each) => each.verb === '')
      : commands.find((each) => matchesVerb(each, verb));
  if ((verb !== undefined && command === undefined) || others.length > 0) throw unknownVerb(group, rest);
  return layOutHelp(group, command, { width: helpWidth(io), hasColours: false });
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
  const known = [ALL, ...Object.keys(TOPICS), ...registry.map(({ noun }) => noun)];
  return usageError(`there is no help for '${subject}'${didYouMean(subject, known)}`, SEE_ROOT_HELP);
}
