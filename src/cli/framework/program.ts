import { Option, Command as Program } from 'commander';
import { type Command, commandName, type Example } from './command.ts';
import type { CommandGroup } from './command-group.ts';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from './common-options.ts';
import { argumentTerm, kebab } from './parameter-names.ts';
import type { Parameter } from './parameters.ts';

/** A command line that was understood: which command, and its words before they are checked. */
export type Invocation = {
  readonly command: Command;
  /** By name, as typed: a text, a list, or true for a flag. */
  readonly words: Readonly<Record<string, string | readonly string[] | boolean | undefined>>;
  /** The options that every command takes, by commander's attribute names. */
  readonly common: Readonly<Record<string, unknown>>;
};

export type ProgramOptions = { readonly width: number; readonly hasColours: boolean };

export type ProgramEvents = { onFound(invocation: Invocation): void; onHelp(text: string): void };

/** Commander's program of a noun with its commands: it parses, and it lays the help out. */
export function buildProgram(
  group: CommandGroup,
  commands: readonly Command[],
  { options, events }: { readonly options: ProgramOptions; readonly events: ProgramEvents },
): Program {
  const single = commands.find((command) => command.verb === '');
  const verbs = commands.filter((command) => command !== single);
  const program = prepare(new Program(`rtc ${group.noun}`), verbs, { options, events });
  // Else `rtc it regions --json` would give the option to `rtc it`.
  if (single === undefined) describeGroup(program, group, verbs);
  else fill(program.enablePositionalOptions(), single, events);
  if (single !== undefined && verbs.length > 0) {
    program.usage(`${usageLine(single)}\n       rtc ${group.noun} <verb> [arguments] [options]`);
  }
  for (const command of verbs) {
    const child = prepare(new Program(command.verb), [], { options, events });
    child.aliases([...(command.aliases ?? [])]);
    fill(child, command, events);
    program.addCommand(child);
  }
  return program;
}

function prepare(
  program: Program,
  verbs: readonly Command[],
  { options, events }: { readonly options: ProgramOptions; readonly events: ProgramEvents },
): Program {
  const terms = new Map(verbs.map((command) => [command.verb, verbTerm(command)]));
  return program
    .exitOverride()
    .helpCommand(false)
    .addHelpOption(helpOption())
    .configureOutput({
      writeOut: events.onHelp,
      // Errors are thrown, and shown by main with their next step.
      writeErr: () => {},
      getOutHelpWidth: () => options.width,
      getOutHasColors: () => options.hasColours,
      outputError: () => {},
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

/** `rtc rooms --help`: what there is, and the first example of each of some verbs. */
function describeGroup(program: Program, { noun, summary }: CommandGroup, verbs: readonly Command[]): void {
  program.addHelpOption(helpOption().hideHelp());
  program.description(`${summary}.`);
  program.usage('<verb> [arguments] [options]');
  const examples = verbs.slice(0, SHOWN_EXAMPLES).flatMap(({ examples: [first] }) => first ?? []);
  const first = verbs[0] === undefined ? noun : commandName(verbs[0]);
  program.addHelpText('after', `${examplesOf(examples)}\n\nMore about one of them: rtc ${first} --help`);
}

const SHOWN_EXAMPLES = 4;

function fill(program: Program, command: Command, events: ProgramEvents): void {
  program.summary(command.summary);
  const { summary, description } = command;
  program.description(description === undefined ? `${summary}.` : `${summary}. ${description}`);
  for (const [name, parameter] of Object.entries(command.arguments)) {
    // Never commander's own "required": main asks for what is missing, or says so.
    program.argument(`[${kebab(name)}${parameter.isList ? '...' : ''}]`, describe(parameter));
  }
  for (const parameter of Object.values(command.options)) program.addOption(optionOf(parameter));
  addCommonOptions(program, command);
  program.usage(usageLine(command));
  program.addHelpText('after', examplesOf(command.examples));
  program.action((...received: unknown[]) => events.onFound(invocationOf(program, command, received)));
}

function addCommonOptions(program: Program, { needs }: Command): void {
  const { json, noColor, debug } = COMMON_OPTIONS;
  const isOffline = needs === 'nothing';
  const shown = isOffline ? { ...json, description: 'print it as JSON, or only these fields (a,b)' } : json;
  program.addOption(optionOf(shown).helpGroup(COMMON_HEADING));
  program.addOption(optionOf(noColor).helpGroup(COMMON_HEADING));
  // Taken everywhere, as it may stand before the noun; where nothing is sent it shows nothing.
  program.addOption(optionOf(debug).helpGroup(COMMON_HEADING).hideHelp(isOffline));
  if (isOffline) return;
  for (const parameter of Object.values(CONNECTION_OPTIONS)) {
    program.addOption(optionOf(parameter).helpGroup('Connection:'));
  }
}

function invocationOf(program: Program, command: Command, received: readonly unknown[]): Invocation {
  const given = program.opts();
  const words: Record<string, string | readonly string[] | boolean | undefined> = {};
  Object.keys(command.arguments).forEach((name, index) => {
    words[name] = received[index] as string | readonly string[] | undefined;
  });
  for (const [name, parameter] of Object.entries(command.options)) {
    words[name] = given[optionOf(parameter).attributeName()];
  }
  return { command, words, common: given };
}

function optionOf(parameter: Parameter<unknown>): Option {
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
  'typed-or-file': '; - reads stdin, @file a file',
};

/** `list|ls`, `create <name>`: a verb in the help of its noun. */
function verbTerm(command: Command): string {
  const verb = [command.verb, ...(command.aliases ?? [])].join('|');
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

function examplesOf(examples: readonly Example[]): string {
  const lines = examples.map((example) => `  # ${example.does}\n  $ ${example.line}`);
  return `\nExamples:\n${lines.join('\n\n')}`;
}
