import { inLanguage } from '../errors/bilingual-error.ts';
import type { Command } from './command.ts';
import { oneOf, option } from './parameters.ts';

/** In which language reasons and hints are told; an option of every command about codes and places. */
export const LANG = option('--lang <language>', 'language of reasons and hints', oneOf(['en', 'it']));

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
