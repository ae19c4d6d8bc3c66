import type { Command } from '../framework/command.ts';
import { CliError, EXIT, type ExitCode } from './cli-error.ts';

/** What is wrong, and what to do next. */
type Wording = readonly [message: string, next: string];

type More = { readonly exitCode?: ExitCode; readonly cause?: unknown; readonly details?: readonly string[] };

/** An error that is worded in English and Italian: where it is thrown nobody need know which one the reader asked for. */
class BilingualError extends CliError {
  readonly italian: Wording;

  constructor(english: Wording, italian: Wording, { exitCode = EXIT.usage, ...more }: More) {
    super(exitCode, ...english, more);
    this.italian = italian;
  }
}

/** A wrong command line, unless another exit code is given. In English, unless {@link withLanguage} turns it. */
export function bilingualError(english: Wording, italian: Wording, more: More = {}): CliError {
  return new BilingualError(english, italian, more);
}

/** The error in the language, as far as it is worded in it. */
function inLanguage(error: unknown, language: unknown): unknown {
  if (language !== 'it' || !(error instanceof BilingualError)) return error;
  return new CliError(error.exitCode, ...error.italian, { cause: error.cause, details: error.details });
}

/** The command, whose errors are told in the language that its option --lang asks for. */
export function withLanguage(command: Command): Command {
  const { fields } = command;
  return {
    ...command,
    run: (context, input) =>
      command.run(context, input).catch((error: unknown) => {
        throw inLanguage(error, languageOf(input));
      }),
    ...(typeof fields === 'function' ? { fields: inAskedLanguage(fields) } : {}),
  };
}

type AnyInput = Parameters<Command['run']>[1];

function inAskedLanguage<T>(work: (input: AnyInput) => T): (input: AnyInput) => T {
  return (input) => {
    try {
      return work(input);
    } catch (error) {
      throw inLanguage(error, languageOf(input));
    }
  };
}

function languageOf(input: object): unknown {
  return 'lang' in input ? input.lang : undefined;
}
