import { profileSource, type Settings } from '../connection/settings.ts';
import { escapeForTerminal } from '../terminal/terminal.ts';
import { wrapForTerminal } from '../terminal/wrap-text.ts';
import type { Context } from './context.ts';
import { type Confirmation, confirmOrRefuse } from './prompts.ts';

/**
 * Like confirmOrRefuse, for a command that destroys something of the service: names the service first. On a protected
 * profile the question is red, and the name of the profile must be typed.
 * @throws CancelledError when the user says no
 */
export async function confirmOnService(context: Context, confirmation: Confirmation): Promise<void> {
  const { prompter } = context;
  if (confirmation.isSure || !prompter.isInteractive) return await confirmOrRefuse(prompter, confirmation);
  const settings = await context.settings();
  const question = await confirmation.question();
  const { profile } = settings;
  if (!settings.isProtected || profile === undefined) {
    printLine(context, `Service: ${describeService(settings)}`);
    return await confirmOrRefuse(prompter, { ...confirmation, question: async () => question });
  }
  const { bad } = context.terminal.errorPalette;
  printLine(context, `Service: ${describeService(settings)}, which is protected`, bad);
  printLine(context, question, bad);
  await prompter.text(`Type ${profile} to confirm:`, (typed) =>
    typed === profile ? undefined : `Type ${profile}, or press Ctrl-C to change nothing.`,
  );
}

function describeService({ url, profile }: Settings): string {
  if (profile === undefined || url.source === profileSource(profile)) return `${url.value} (${url.source})`;
  return `${url.value} (${url.source}, with profile ${profile})`;
}

function printLine({ io }: Context, text: string, paint: (text: string) => string = (same) => same): void {
  io.stderr.write(`${paint(wrapForTerminal(io.stderr, escapeForTerminal(text)))}\n`);
}
