import { CancelledError, usageError } from '../errors/cli-error.ts';
import { escapeForTerminal } from '../terminal/escape-for-terminal.ts';
import { canPrompt, type Io } from '../terminal/io.ts';

/** Questions on the terminal, on stderr; `isInteractive` is false where there is nobody to ask. */
export type Prompter = {
  readonly isInteractive: boolean;
  /** `fault` tells why what was typed will not do. */
  text(question: string, validate?: (typed: string) => string | undefined): Promise<string>;
  /** With an answer that Enter takes. */
  textOr(question: string, preset: string, validate: (typed: string) => string | undefined): Promise<string>;
  secret(question: string): Promise<string>;
  /** Finds as one types. */
  search(question: string, find: (typed: string) => readonly SearchChoice[]): Promise<string>;
  choose(question: string, choices: readonly string[]): Promise<string>;
  confirm(question: string): Promise<boolean>;
};

export type SearchChoice = { readonly value: string; readonly name: string };

export function createPrompter(io: Io): Prompter {
  // On use only: reading stdin opens it, which takes longer than an offline command.
  const context = () => ({
    input: io.stdin,
    output: io.stderr,
    signal: io.signal,
    clearPromptOnDone: false,
  });
  const required = (value: string): true | string => (value === '' ? 'Please type a value.' : true);
  return {
    get isInteractive() {
      return canPrompt(io);
    },
    text: (question, validate) =>
      ask(async ({ input }) =>
        input(
          {
            message: escapeForTerminal(question),
            validate: (typed) => (typed === '' ? required(typed) : (validate?.(typed) ?? true)),
          },
          context(),
        ),
      ),
    search: (question, find) =>
      ask(async ({ search }) =>
        search(
          { message: escapeForTerminal(question), source: (typed) => (typed ? find(typed) : []) },
          context(),
        ),
      ),
    textOr: (question, preset, validate) =>
      ask(async ({ input }) =>
        input(
          {
            message: escapeForTerminal(question),
            default: preset,
            validate: (typed) => validate(typed) ?? true,
          },
          context(),
        ),
      ),
    secret: (question) =>
      ask(async ({ password }) =>
        password({ message: escapeForTerminal(question), mask: '*', validate: required }, context()),
      ),
    choose: (question, choices) =>
      ask(async ({ select }) =>
        select(
          {
            message: escapeForTerminal(question),
            choices: choices.map((value) => ({ value, name: escapeForTerminal(value) })),
          },
          context(),
        ),
      ),
    confirm: (question) =>
      ask(async ({ confirm }) =>
        confirm({ message: escapeForTerminal(question), default: false }, context()),
      ),
  };
}

/**
 * Asks before something is destroyed; without a terminal --yes must be given.
 * @throws CancelledError when the answer is no
 */
export async function confirmOrRefuse(
  prompter: Prompter,
  options: { readonly isSure: boolean; readonly question: () => Promise<string>; readonly what: string },
): Promise<void> {
  if (options.isSure) return;
  if (!prompter.isInteractive) throw usageError(`${options.what} needs a confirmation`, 'add --yes');
  if (!(await prompter.confirm(await options.question()))) throw new CancelledError('nothing was changed');
}

type Prompts = typeof import('@inquirer/prompts');

async function ask<T>(question: (prompts: Prompts) => Promise<T>): Promise<T> {
  try {
    return await question(await import('@inquirer/prompts'));
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'ExitPromptError' || name === 'AbortPromptError' || name === 'CancelPromptError') {
      throw new CancelledError('nothing was changed');
    }
    throw error;
  }
}
