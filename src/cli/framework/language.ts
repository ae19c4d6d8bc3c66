import { inLanguage } from '../errors/bilingual-error.ts';
import type { CommandGroup } from './command-group.ts';
import { choice, option } from './parameters.ts';

/** Language of reasons and hints; an option of every command about codes and places. */
export const LANG = option('--lang <language>', 'language of reasons and hints', choice(['en', 'it']));

/**
 * Returns the error in the language of --lang, if the group's commands have that option. The words themselves are read,
 * because the error may be that they could not be parsed.
 */
export async function inAskedLanguage(
  error: unknown,
  { load }: CommandGroup,
  argv: readonly string[],
): Promise<unknown> {
  const { commands } = await load();
  if (!commands.some(({ options }) => 'lang' in options)) return error;
  const at = argv.lastIndexOf('--lang');
  const option = at < 0 ? argv.findLast((word) => word.startsWith('--lang='))?.slice(7) : argv[at + 1];
  return inLanguage(error, option);
}
