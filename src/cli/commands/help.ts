import { CATALOGUE, findNoun } from '../catalogue.ts';
import { type Command, defineCommand, isCalled } from '../command.ts';
import { SEE_ROOT_HELP, usageError } from '../failure.ts';
import { TOPICS } from '../help-topics.ts';
import { didYouMean } from '../nearest.ts';
import { optionalListArgument } from '../parameters.ts';
import { parseNoun } from '../parse.ts';
import { text } from '../result.ts';
import { rootHelp } from '../root-help.ts';

const help = defineCommand({
  noun: 'help',
  verb: '',
  summary: 'Show the help of a command or a topic',
  needs: 'nothing',
  arguments: {
    subject: optionalListArgument('a command such as rooms create, or a topic', {
      choices: Object.keys(TOPICS),
    }),
  },
  options: {},
  examples: [
    { line: 'rtc help rooms create', does: 'The same as rtc rooms create --help' },
    { line: 'rtc help exit-codes', does: 'What each exit code means' },
    { line: 'rtc help environment', does: 'Variables that rtc reads' },
    { line: 'rtc help output', does: 'Tables, tab-separated lines and JSON' },
  ],
  async run(context, { subject }) {
    const [first, ...rest] = subject;
    if (first === undefined) return text(rootHelp(false));
    const topic = Object.hasOwn(TOPICS, first) ? TOPICS[first] : undefined;
    if (topic !== undefined) return text(topic);
    const entry = findNoun(first);
    if (entry === undefined) throw unknownSubject(first);
    const { commands } = await entry.load();
    const [verb, ...others] = rest;
    const isKnown = verb === undefined || commands.some((command) => isCalled(command, verb));
    if (!isKnown || others.length > 0) throw unknownVerb(first, rest, entry.verbs);
    const width = Math.min(context.io.stdout.columns ?? 100, 110);
    const parsed = await parseNoun(commands, [...rest, '--help'], { width, hasColours: false });
    return text(parsed.kind === 'help' ? parsed.text : '');
  },
});

export const commands: readonly Command[] = [help];

function unknownVerb(noun: string, rest: readonly string[], verbs: readonly string[]): Error {
  const [verb = ''] = rest;
  const suggestion = rest.length > 1 ? '' : didYouMean(verb, verbs);
  return usageError(
    `there is no help for '${noun} ${rest.join(' ')}'${suggestion}`,
    `see: rtc ${noun} --help`,
  );
}

function unknownSubject(subject: string): Error {
  const known = [...Object.keys(TOPICS), ...CATALOGUE.map((entry) => entry.noun)];
  return usageError(`there is no help for '${subject}'${didYouMean(subject, known)}`, SEE_ROOT_HELP);
}
