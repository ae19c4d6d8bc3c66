import { CancelledError, usageError } from '../errors/cli-error.ts';
import { canPrompt, type Io } from '../terminal/io.ts';
import { escapeForTerminal } from '../terminal/terminal.ts';

/** The language of the words below a question. */
type Language = 'en' | 'it';

/** Questions on the terminal, on stderr; `isInteractive` is false when there is nobody to ask. */
export type Prompter = {
  readonly isInteractive: boolean;
  /** Asks for a text. `validate` returns why the typed text is invalid, `ifEmpty` what to do about an empty one. */
  text(question: string, validate?: (typed: string) => string | undefined, ifEmpty?: string): Promise<string>;
  /** Asks for a text with a default, which Enter accepts. */
  textOr(question: string, preset: string, validate: (typed: string) => string | undefined): Promise<string>;
  secret(question: string): Promise<string>;
  /** Asks for one of a list, which gets shorter during typing. */
  pick(question: string, choices: readonly SearchChoice[]): Promise<string>;
  /** Searches during typing. */
  search(
    question: string,
    find: (typed: string) => readonly SearchChoice[],
    language?: Language,
  ): Promise<string>;
  choose(question: string, choices: readonly string[], language?: Language): Promise<string>;
  confirm(question: string): Promise<boolean>;
};

export type SearchChoice = { readonly value: string; readonly name: string };

export function createPrompter(io: Io): Prompter {
  const ask = <T>(question: string, show: Question<T>): Promise<T> =>
    askUntilClosed(io, escapeForTerminal(question), show);
  const required = (value: string): true | string => (value === '' ? 'Please type a value.' : true);
  return {
    get isInteractive() {
      return canPrompt(io);
    },
    text: (question, validate, ifEmpty) => {
      const check = (typed: string): boolean | string =>
        typed === '' ? (ifEmpty ?? required(typed)) : (validate?.(typed) ?? true);
      return ask(question, ({ input }, message, context) => input({ message, validate: check }, context));
    },
    pick: (question, choices) =>
      ask(question, ({ search }, message, context) =>
        search({ message, source: (typed) => filterChoices(choices, typed ?? '') }, context),
      ),
    search: (question, find, language) =>
      ask(question, ({ search }, message, context) =>
        search({ message, source: (typed) => (typed ? find(typed) : []), ...themeIn(language) }, context),
      ),
    textOr: (question, preset, validate) =>
      ask(question, ({ input }, message, context) =>
        input({ message, default: preset, validate: (typed) => validate(typed) ?? true }, context),
      ),
    secret: (question) =>
      ask(question, ({ password }, message, context) =>
        password({ message, mask: '*', validate: required }, context),
      ),
    choose: (question, values, language) => {
      const choices = values.map((value) => ({ value, name: escapeForTerminal(value) }));
      return ask(question, ({ select }, message, context) =>
        select({ message, choices, ...themeIn(language) }, context),
      );
    },
    confirm: (question) =>
      ask(question, ({ confirm }, message, context) => confirm({ message, default: false }, context)),
  };
}

/** The words below a prompt, which are English otherwise. */
function themeIn(language: Language | undefined) {
  if (language !== 'it') return {};
  const keysHelpTip = (keys: [key: string, action: string][]): string =>
    keys.map(([key, action]) => `${key} ${ITALIAN_ACTIONS[action] ?? action}`).join(' • ');
  const error = (message: string): string =>
    `> ${message === 'No results found' ? 'Nessun risultato' : message}`;
  return { theme: { style: { keysHelpTip, error } } };
}

const ITALIAN_ACTIONS: Readonly<Record<string, string>> = { navigate: 'scorrere', select: 'scegliere' };

/** Matches the choices, whose names are foreign text. */
function filterChoices(choices: readonly SearchChoice[], typed: string): readonly SearchChoice[] {
  return choices
    .filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()))
    .map(({ value, name }) => ({ value, name: escapeForTerminal(name) }));
}

export type Confirmation = {
  /** Whether --yes was given, so that nothing is asked. */
  readonly isSure: boolean;
  /** Describes what is lost. */
  readonly question: () => Promise<string>;
  /** The action that needs the confirmation, such as `deleting rooms`. */
  readonly what: string;
};

/**
 * Asks before something is destroyed. Without a terminal --yes is required.
 * @throws CancelledError when the user says no
 */
export async function confirmOrRefuse(
  prompter: Prompter,
  { isSure, question, what }: Confirmation,
): Promise<void> {
  if (isSure) return;
  if (!prompter.isInteractive) throw usageError(`${what} needs a confirmation`, 'add --yes');
  if (!(await prompter.confirm(await question()))) throw new CancelledError('nothing was changed');
}

type Prompts = typeof import('@inquirer/prompts');
type PromptContext = NonNullable<Parameters<Prompts['input']>[1]>;
type Question<T> = (prompts: Prompts, message: string, context: PromptContext) => Promise<T>;

/** Ctrl-D closes readline, which pauses stdin; the prompt itself would then never end. */
async function askUntilClosed<T>(io: Io, message: string, question: Question<T>): Promise<T> {
  const prompts = await import('@inquirer/prompts');
  // Opened on use, because reading io.stdin takes longer than an offline command.
  const { stdin } = io;
  const closed = new AbortController();
  const context = {
    input: stdin,
    output: io.stderr,
    signal: AbortSignal.any([io.signal, closed.signal]),
    clearPromptOnDone: false,
  };
  // A prompt that has its value closes readline too, and resolves before this turn ends.
  const onPause = (): void => void setImmediate(() => closed.abort());
  stdin.once('pause', onPause);
  try {
    return await question(prompts, message, context);
  } catch (error) {
    const name = error instanceof Error ? error.name : '';
    if (name === 'ExitPromptError' || name === 'AbortPromptError' || name === 'CancelPromptError') {
      throw new CancelledError('nothing was changed');
    }
    throw error;
  } finally {
    stdin.off('pause', onPause);
  }
}
