import { resolve } from 'node:path';
import { InvalidUrlError, parseServiceUrl } from '../../../client/transport/service-url.ts';
import { type Profile, readProfiles, writeProfiles } from '../../connection/profiles.ts';
import { readSecretFile } from '../../connection/secrets.ts';
import { DEFAULT_URL } from '../../connection/settings.ts';
import { usageError } from '../../errors/cli-error.ts';
import { defineCommand } from '../../framework/command.ts';
import { YES } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { argument, flag, notEmpty, option } from '../../framework/parameters.ts';
import { validationMessage } from '../../framework/parsing/read-input.ts';
import { confirmOrRefuse } from '../../framework/prompts.ts';
import { done } from '../../terminal/result.ts';

export const add = defineCommand({
  noun: 'profile',
  verb: 'add',
  summary: 'Save a service and its key under a name',
  description:
    'The secret is never an argument: it comes from a prompt, stdin, a file, or a command that prints it. The first profile becomes the current one.',
  needs: 'nothing',
  arguments: { name: argument('name of the profile') },
  options: {
    url: option('--url <url>', `address of the service; default ${DEFAULT_URL}`, { parse: serviceUrl }),
    apiKey: option('--api-key <key>', 'API key', { parse: notEmpty }),
    secretStdin: flag('--secret-stdin', 'read the API secret from stdin, and save it'),
    secretFile: option('--secret-file <file>', 'read the API secret from this file at every use', {
      parse: notEmpty,
      completes: 'files',
    }),
    secretCommand: option(
      '--secret-command <command>',
      'run this command at every use; it prints the API secret',
      {
        parse: notEmpty,
      },
    ),
    use: flag('--use', 'make it the current profile'),
    protected: flag(
      '--protected',
      'protect it: destructive commands ask for its name, and rtc console shows it in red',
    ),
    yes: YES,
  },
  examples: [
    { line: 'rtc profile add prod', does: 'Asks for address, key and secret' },
    {
      line: 'rtc profile add prod --url https://rtc.example.org --api-key key1 --secret-command "pass show rtc"',
      does: 'With the secret in a password manager',
    },
  ],
  async run(context, input) {
    checkName(input.name);
    const store = await readProfiles(context.io);
    if (Object.hasOwn(store.profiles, input.name)) {
      await confirmOrRefuse(context.prompter, {
        isSure: input.yes,
        what: `replacing profile ${input.name}`,
        question: async () => `Profile ${input.name} exists. Replace it?`,
      });
    }
    const answers = await askProfile(context, input);
    const profile = input.protected ? { ...answers, isProtected: true } : answers;
    const isCurrent = input.use || store.current === undefined || store.current === input.name;
    await writeProfiles(context.io, {
      current: isCurrent ? input.name : store.current,
      profiles: { ...store.profiles, [input.name]: profile },
    });
    return done(
      isCurrent
        ? `Added profile ${input.name}; it is the current one.`
        : `Added profile ${input.name}. Use it: rtc profile use ${input.name}`,
      { notes: [`Check it: rtc doctor --profile ${input.name}`] },
    );
  },
});

type ProfileInput = {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly secretStdin: boolean;
  readonly secretFile: string | undefined;
  readonly secretCommand: string | undefined;
};

async function askProfile(context: Context, input: ProfileInput): Promise<Profile> {
  const sources = [input.secretStdin || undefined, input.secretFile, input.secretCommand];
  if (sources.filter((source) => source !== undefined).length > 1) {
    throw usageError(
      '--secret-stdin, --secret-file and --secret-command exclude each other',
      'give one of them',
    );
  }
  const { prompter } = context;
  const hasSecret = sources.some((source) => source !== undefined);
  if (!prompter.isInteractive && (input.apiKey === undefined || !hasSecret)) {
    const missing = [
      ...(input.apiKey === undefined ? ['--api-key'] : []),
      ...(hasSecret ? [] : ['one of --secret-stdin, --secret-file and --secret-command']),
    ];
    throw usageError(`missing ${missing.join(', and ')}`);
  }
  const url = input.url ?? (prompter.isInteractive ? await askUrl(context) : DEFAULT_URL);
  const apiKey = input.apiKey ?? (await prompter.text('API key:'));
  return { url, apiKey, ...(await secretOf(context, input)) };
}

async function askUrl(context: Context): Promise<string> {
  const validate = (typed: string): string | undefined => validationMessage(serviceUrl, typed);
  return context.prompter.textOr('Address of the service:', DEFAULT_URL, validate);
}

async function secretOf(context: Context, input: ProfileInput): Promise<Partial<Profile>> {
  if (input.secretCommand !== undefined) return { apiSecretCommand: input.secretCommand };
  if (input.secretFile !== undefined) {
    // Reads the file once now, so that a wrong path is found here and not at the first use.
    await readSecretFile(context.io, input.secretFile);
    return { apiSecretFile: resolve(context.io.workingDirectory, input.secretFile) };
  }
  if (input.secretStdin) return { apiSecret: await readSecretFile(context.io, '-') };
  return { apiSecret: await context.prompter.secret('API secret:') };
}

function serviceUrl(text: string): string {
  try {
    parseServiceUrl(text);
    return text;
  } catch (error) {
    if (!(error instanceof InvalidUrlError)) throw error;
    throw usageError(error.reason, `write it such as ${DEFAULT_URL}`);
  }
}

/** Allows only names that need no quoting anywhere, and that no object has already. */
function checkName(name: string): void {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return;
  throw usageError(
    `${JSON.stringify(name)} is not a valid name for a profile`,
    'use letters, digits, dots, dashes and underscores, at most 64',
  );
}
