import { CommanderError, Option, Command as Program } from 'commander';
import { type Command, isCalled, nameOf } from './command.ts';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from './common-options.ts';
import { usageError } from './failure.ts';
import { didYouMean } from './nearest.ts';
import type { Parameter } from './parameters.ts';
import { plural } from './time.ts';

/** A command line that was understood: which command, and its words before they are checked. */
export type Invocation = {
  readonly command: Command;
  /** By name, as typed: a text, a list, or true for a flag. */
  readonly words: Readonly<Record<string, string | readonly string[] | boolean | undefined>>;
  /** The options that every command takes, by commander's attribute names. */
  readonly common: Readonly<Record<string, unknown>>;
};

export type Parsed =
  | { readonly kind: 'invocation'; readonly invocation: Invocation }
  | { readonly kind: 'help'; readonly text: string };

export type ParseOptions = { readonly width: number; readonly hasColours: boolean };

/** @throws CliError (usage) for what no command takes, with the nearest name that one does */
export async function parseNoun(
  commands: readonly Command[],
  argv: readonly string[],
  options: ParseOptions,
): Promise<Parsed> {
  const parsed = await parseOnce(commands, argv, options);
  const misread = parsed.kind === 'invocation' ? jsonThatAteAnArgument(parsed.invocation, argv) : undefined;
  return misread === undefined ? parsed : parseOnce(commands, misread, options);
}

async function parseOnce(
  commands: readonly Command[],
  argv: readonly string[],
  options: ParseOptions,
): Promise<Parsed> {
  const state: { found: Invocation | undefined; help: string } = { found: undefined, help: '' };
  const program = buildProgram(commands, options, {
    onFound: (invocation) => {
      state.found = invocation;
    },
    onHelp: (text) => {
      state.help += text;
    },
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { kind: 'help', text: state.help };
    // A noun without a verb: commander takes it for an error, and has written the help as one.
    if (error.code === 'commander.help') return { kind: 'help', text: program.helpInformation() };
    throw usageOf(error, commands, argv);
  }
  if (state.found === undefined) return { kind: 'help', text: program.helpInformation() };
  return { kind: 'invocation', invocation: state.found };
}

/**
 * `--json` may stand alone or take fields, so commander reads `get --json demo` as fields. When an argument is
 * missing and what follows --json is no field list, it was the argument: --json moves to the end.
 */
function jsonThatAteAnArgument(invocation: Invocation, argv: readonly string[]): string[] | undefined {
  const { json } = invocation.common;
  if (typeof json !== 'string' || json.includes(',')) return undefined;
  const isMissing = Object.entries(invocation.command.arguments).some(
    ([name, parameter]) => parameter.isRequired && isEmpty(invocation.words[name]),
  );
  const at = argv.indexOf('--json');
  if (!isMissing || at === -1) return undefined;
  return [...argv.slice(0, at), ...argv.slice(at + 1), '--json'];
}

function isEmpty(word: string | readonly string[] | boolean | undefined): boolean {
  return word === undefined || (Array.isArray(word) && word.length === 0);
}

type Events = { onFound(invocation: Invocation): void; onHelp(text: string): void };

function buildProgram(commands: readonly Command[], options: ParseOptions, events: Events): Program {
  const noun = commands[0]?.noun ?? '';
  const single = commands.find((command) => command.verb === '');
  const program = prepare(new Program(`rtc ${noun}`), options, events);
  // Else `rtc it regions --json` would give the option to `rtc it`.
  if (single !== undefined) fill(program.enablePositionalOptions(), single, events);
  for (const command of commands) {
    if (command === single) continue;
    const child = prepare(new Program(command.verb), options, events);
    child.aliases([...(command.aliases ?? [])]);
    fill(child, command, events);
    program.addCommand(child);
  }
  if (single === undefined) program.usage('<verb> [options]');
  return program;
}

function prepare(program: Program, options: ParseOptions, events: Events): Program {
  return program
    .exitOverride()
    .helpCommand(false)
    .helpOption('-h, --help', 'show this help')
    .configureOutput({
      writeOut: events.onHelp,
      // Errors are thrown, and shown by main with their next step.
      writeErr: () => {},
      getOutHelpWidth: () => options.width,
      getOutHasColors: () => options.hasColours,
      outputError: () => {},
    })
    .configureHelp({ styleTitle: (title) => (options.hasColours ? `\u001b[1m${title}\u001b[22m` : title) });
}

function fill(program: Program, command: Command, events: Events): void {
  program.summary(command.summary);
  program.description(
    command.description === undefined ? command.summary : `${command.summary}. ${command.description}`,
  );
  for (const [name, parameter] of Object.entries(command.arguments)) {
    // Never commander's own "required": main asks for what is missing, or says so.
    program.argument(`[${kebab(name)}${parameter.isList ? '...' : ''}]`, describe(parameter));
  }
  for (const parameter of Object.values(command.options)) addOption(program, parameter, undefined);
  for (const parameter of Object.values(COMMON_OPTIONS)) addOption(program, parameter, 'Output:');
  if (command.needs === 'service') {
    for (const parameter of Object.values(CONNECTION_OPTIONS)) addOption(program, parameter, 'Connection:');
  }
  program.usage(usageLine(command));
  program.addHelpText('after', examplesOf(command));
  program.action((...received: unknown[]) => {
    const names = Object.keys(command.arguments);
    const given = program.opts();
    const words: Record<string, string | readonly string[] | boolean | undefined> = {};
    names.forEach((name, index) => {
      words[name] = received[index] as string | readonly string[] | undefined;
    });
    for (const [name, parameter] of Object.entries(command.options)) {
      words[name] = given[attributeOf(parameter)];
    }
    events.onFound({ command, words, common: given });
  });
}

function addOption(program: Program, parameter: Parameter<unknown>, heading: string | undefined): void {
  const option = new Option(parameter.flags ?? '', describe(parameter));
  program.addOption(heading === undefined ? option : option.helpGroup(heading));
}

function attributeOf(parameter: Parameter<unknown>): string {
  return new Option(parameter.flags ?? '').attributeName();
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

function usageLine(command: Command): string {
  const words = Object.entries(command.arguments).map(([name, parameter]) => {
    const word = `${kebab(name)}${parameter.isList ? '...' : ''}`;
    return parameter.isRequired ? `<${word}>` : `[${word}]`;
  });
  const required = Object.values(command.options).filter((parameter) => parameter.isRequired);
  return [...words, ...required.map((parameter) => longFlag(parameter)), '[options]'].join(' ');
}

function longFlag(parameter: Parameter<unknown>): string {
  return (parameter.flags ?? '').split(', ').at(-1) ?? '';
}

function examplesOf(command: Command): string {
  const lines = command.examples.map((example) => `  # ${example.does}\n  $ ${example.line}`);
  return `\nExamples:\n${lines.join('\n\n')}`;
}

/** What commander found, in our own words: its own quote whole flags, and what was typed. */
function usageOf(error: CommanderError, commands: readonly Command[], argv: readonly string[]): Error {
  const { noun = '' } = commands[0] ?? {};
  const verbs = commands.map(({ verb }) => verb).filter((verb) => verb !== '');
  const command =
    commands.find((each) => isCalled(each, argv[0])) ?? commands.find(({ verb }) => verb === '');
  if (command === undefined || isVerbMissed(error, command, verbs)) {
    const [word = ''] = argv.filter((each) => !each.startsWith('-'));
    return usageError(
      `unknown command '${noun} ${word}'${didYouMean(word, verbs)}`,
      `see: rtc ${noun} --help`,
    );
  }
  const name = nameOf(command);
  return usageError(messageOf(error, name), nextOf(error, `see: rtc ${name} --help`, argv));
}

/** `rtc dev jion`: dev is a command itself, and takes no argument. */
function isVerbMissed(error: CommanderError, { verb }: Command, verbs: readonly string[]): boolean {
  return verb === '' && verbs.length > 0 && error.code === 'commander.excessArguments';
}

function messageOf({ code, message }: CommanderError, name: string): string {
  const [, count = '', given = ''] = /Expected (\d+) arguments? but got (\d+)/.exec(message) ?? [];
  switch (code) {
    case 'commander.excessArguments':
      // What was typed may be personal, or a token.
      return `rtc ${name} takes ${count === '0' ? 'no argument' : plural(Number(count), 'argument')}, but got ${given}`;
    case 'commander.optionMissingArgument':
      return `${/--[\w-]+/.exec(message)?.[0] ?? 'an option'} needs a value`;
    default:
      return message.replace(/^error: /, '').replace(/\n\(Did you mean (.*)\?\)$/, ', did you mean $1?');
  }
}

function nextOf({ code, message }: CommanderError, help: string, argv: readonly string[]): string {
  const isSplit =
    code === 'commander.excessArguments' && !/Expected 0 /.test(message) && !argv.includes('--');
  return isSplit ? `quote what holds a space, 'like this'; ${help}` : help;
}

/** `trackSid` as `track-sid`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
