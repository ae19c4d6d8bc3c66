import { Option, Command as Program } from 'commander';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../common-options.ts';
import { type Command, type CommandGroup, commandName, type Example, type Parameter } from '../parameters.ts';
import { argumentTerm, kebab } from '../parsing/read-input.ts';

export type HelpOptions = { readonly width: number; readonly hasColours: boolean };

/** Returns the help of a noun, or of one of its commands. Commander lays it out from the commands as data. */
export async function layOutHelp(
  group: CommandGroup,
  command: Command | undefined,
  options: HelpOptions,
): Promise<string> {
  const { commands } = await group.load();
  if (command !== undefined && command.verb !== '') {
    const program = prepare(new Program(`rtc ${commandName(command)}`), [], options);
    program.aliases([...command.aliases]);
    return renderHelp(fill(program, command));
  }
  const verbs = commands.filter((each) => each.verb !== '');
  const program = prepare(new Program(`rtc ${group.noun}`), verbs, options);
  if (command === undefined) describeGroup(program, group, verbs);
  else fill(program, command);
  if (command !== undefined && verbs.length > 0) {
    program.usage(`${usageLine(command)}\n       rtc ${group.noun} <verb> [arguments] [options]`);
  }
  for (const each of verbs) program.addCommand(new Program(each.verb).summary(each.summary));
  return renderHelp(program);
}

function renderHelp(program: Program): string {
  let text = '';
  program.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  program.outputHelp();
  return text;
}

function prepare(program: Program, verbs: readonly Command[], options: HelpOptions): Program {
  const terms = new Map(verbs.map((command) => [command.verb, verbTerm(command)]));
  return program
    .helpCommand(false)
    .addHelpOption(helpOption())
    .configureOutput({
      getOutHelpWidth: () => options.width,
      getOutHasColors: () => options.hasColours,
    })
    .configureHelp({
      styleTitle: (title) => (options.hasColours ? `\u001b[1m${title}\u001b[22m` : title),
      subcommandTerm: (child) => terms.get(child.name()) ?? child.name(),
    });
}

const COMMON_HEADING = 'Common options:';

function helpOption(): Option {
  return new Option('-h, --help', 'show this help').helpGroup(COMMON_HEADING);
}

/** `rtc rooms --help`: every verb, and the first example of some of them. */
function describeGroup(program: Program, { noun, summary }: CommandGroup, verbs: readonly Command[]): void {
  program.addHelpOption(helpOption().hideHelp());
  program.description(`${summary}.`);
  program.usage('<verb> [arguments] [options]');
  const examples = verbs.slice(0, SHOWN_EXAMPLES).flatMap(({ examples: [first] }) => first ?? []);
  const first = verbs[0] === undefined ? noun : commandName(verbs[0]);
  program.addHelpText('after', `${formatExamples(examples)}\n\nMore about a command: rtc ${first} --help`);
}

const SHOWN_EXAMPLES = 4;

function fill(program: Program, command: Command): Program {
  const { summary, description } = command;
  program.description(description === undefined ? `${summary}.` : `${summary}. ${description}`);
  for (const [name, parameter] of Object.entries(command.arguments)) {
    program.argument(`[${kebab(name)}${parameter.isList ? '...' : ''}]`, describe(parameter));
  }
  for (const parameter of Object.values(command.options)) program.addOption(toOption(parameter));
  addCommonOptions(program, command);
  program.usage(usageLine(command));
  return program.addHelpText('after', formatExamples(command.examples));
}

function addCommonOptions(program: Program, { needs }: Command): void {
  const { json, noColor, debug } = COMMON_OPTIONS;
  const isOffline = needs === 'nothing';
  const shown = isOffline ? { ...json, description: 'print it as JSON, or only these fields (a,b)' } : json;
  program.addOption(toOption(shown).helpGroup(COMMON_HEADING));
  program.addOption(toOption(noColor).helpGroup(COMMON_HEADING));
  // Every command has this option, because it is allowed before the noun; without requests it shows nothing.
  program.addOption(toOption(debug).helpGroup(COMMON_HEADING).hideHelp(isOffline));
  if (isOffline) return;
  for (const parameter of Object.values(CONNECTION_OPTIONS)) {
    program.addOption(toOption(parameter).helpGroup('Connection:'));
  }
}

function toOption(parameter: Parameter<unknown>): Option {
  return new Option(parameter.flags ?? '', describe(parameter));
}

function describe(parameter: Parameter<unknown>): string {
  const choices = parameter.choices === undefined ? '' : ` (${parameter.choices.join(', ')})`;
  const source = SOURCE_NOTES[parameter.source];
  const required = parameter.isRequired && parameter.flags !== undefined ? ' (required)' : '';
  return `${parameter.description}${choices}${source}${required}`;
}

const SOURCE_NOTES: Readonly<Record<Parameter<unknown>['source'], string>> = {
  typed: '',
  'typed-or-stdin': '; - reads stdin',
  'typed-or-file': '; - reads stdin, @file reads a file',
};

/** `list|ls`, `create <name>`: a verb in the help of its noun. */
function verbTerm(command: Command): string {
  const verb = [command.verb, ...command.aliases].join('|');
  return [verb, ...argumentTerms(command)].join(' ');
}

function usageLine(command: Command): string {
  return [...argumentTerms(command), ...requiredFlags(command), '[options]'].join(' ');
}

function argumentTerms(command: Command): readonly string[] {
  return Object.entries(command.arguments).map(([name, parameter]) => argumentTerm(name, parameter));
}

function requiredFlags(command: Command): readonly string[] {
  return Object.values(command.options)
    .filter(({ isRequired }) => isRequired)
    .map(({ flags = '' }) => flags.split(', ').at(-1) ?? '');
}

function formatExamples(examples: readonly Example[]): string {
  const lines = examples.map((example) => `  # ${example.does}\n  $ ${example.line}`);
  return `\nExamples:\n${lines.join('\n\n')}`;
}
