import { CommanderError } from 'commander';
import type { Command } from './command.ts';
import type { CommandGroup } from './command-group.ts';
import { parseError } from './parse-error.ts';
import { buildProgram, type Invocation, type ProgramOptions } from './program.ts';

export type Parsed =
  | { readonly kind: 'invocation'; readonly invocation: Invocation }
  | { readonly kind: 'help'; readonly text: string };

/** @throws CliError (usage) for what no command takes, with the nearest name that one does */
export async function parseCommand(
  group: CommandGroup,
  argv: readonly string[],
  options: ProgramOptions,
): Promise<Parsed> {
  const { commands } = await group.load();
  const parse = (words: readonly string[]): Promise<Parsed> => parseOnce({ group, commands, options }, words);
  const parsed = await parse(argv);
  const misread = parsed.kind === 'invocation' ? reinterpretJsonValue(parsed.invocation, argv) : undefined;
  return misread === undefined ? parsed : parse(misread);
}

type Grammar = {
  readonly group: CommandGroup;
  readonly commands: readonly Command[];
  readonly options: ProgramOptions;
};

async function parseOnce({ group, commands, options }: Grammar, argv: readonly string[]): Promise<Parsed> {
  const state: { found: Invocation | undefined; help: string } = { found: undefined, help: '' };
  const events = {
    onFound: (invocation: Invocation): void => {
      state.found = invocation;
    },
    onHelp: (text: string): void => {
      state.help += text;
    },
  };
  const program = buildProgram(group, commands, { options, events });
  const ownHelp = (): Parsed => {
    program.outputHelp();
    return { kind: 'help', text: state.help };
  };
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { kind: 'help', text: state.help };
    // A noun without a verb: commander takes it for an error, and has written the help as one.
    if (error.code === 'commander.help') return ownHelp();
    throw parseError(error, commands, argv);
  }
  return state.found === undefined ? ownHelp() : { kind: 'invocation', invocation: state.found };
}

/**
 * `--json` may stand alone or take fields, so commander reads `get --json demo` as fields. When an argument is
 * missing and what follows --json is no field list, it was the argument: --json moves to the end.
 */
function reinterpretJsonValue(invocation: Invocation, argv: readonly string[]): string[] | undefined {
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
