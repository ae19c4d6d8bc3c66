import { resolve } from 'node:path';
import { InvalidUrlError, parseServiceUrl } from '../../../client/transport/request-parts.ts';
import {
  type Profile,
  type ProfileStore,
  profilesPath,
  readProfiles,
  writeProfiles,
} from '../../connection/profiles.ts';
import { maskKey } from '../../connection/request-trace.ts';
import { DEFAULT_URL, readSecretFile } from '../../connection/settings.ts';
import { CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import { didYouMean } from '../../errors/did-you-mean.ts';
import { YES } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import {
  argument,
  defineCommand,
  existing,
  flag,
  listOfExisting,
  ofNoun,
  option,
  optionalArgument,
} from '../../framework/parameters.ts';
import { validationMessage } from '../../framework/parsing/read-input.ts';
import { confirmOrRefuse } from '../../framework/prompts.ts';
import { forEachTarget } from '../../framework/report-error.ts';
import { type Column, done, list, nothing, record } from '../../terminal/result.ts';

/** A profile as it is shown, without its secret. */
type ShownProfile = {
  readonly name: string;
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly current: boolean;
};

const COLUMNS: readonly Column<ShownProfile>[] = [
  { heading: 'NAME', value: (profile) => profile.name, paint: 'name' },
  { heading: 'URL', value: (profile) => profile.url },
  { heading: 'API-KEY', value: (profile) => profile.apiKey },
  { heading: 'API-SECRET', value: (profile) => profile.apiSecret },
  {
    heading: 'CURRENT',
    value: (profile) => profile.current,
    display: (profile) => (profile.current ? '●' : ''),
    paint: 'good',
  },
];
const FIELDS = [
  'name',
  'url',
  'apiKey',
  'apiSecret',
  'current',
] as const satisfies readonly (keyof ShownProfile)[];

const NAME = existing('name of the profile', 'profiles');

const listProfiles = defineCommand({
  verb: 'list',
  summary: 'List the profiles',
  needs: 'nothing',
  fields: FIELDS,
  examples: [{ line: 'rtc profile list', does: 'Every profile, secrets masked' }],
  async run(context) {
    const store = await readProfiles(context.io);
    const profiles = Object.keys(store.profiles).map((name) => show(context, store, name));
    return list({
      response: profiles,
      records: profiles,
      columns: COLUMNS,
      identify: (profile) => profile.name,
      empty: 'There is no profile. Add one: rtc profile add NAME',
    });
  },
});

const use = defineCommand({
  verb: 'use',
  summary: 'Choose the profile that commands use',
  needs: 'nothing',
  arguments: { name: NAME },
  examples: [{ line: 'rtc profile use prod', does: 'From now on' }],
  async run(context, { name }) {
    const store = await readProfiles(context.io);
    pick(context, store, name);
    await writeProfiles(context.io, { ...store, current: name });
    return done(`Commands now use profile ${name}.`);
  },
});

const showProfile = defineCommand({
  verb: 'show',
  summary: 'Show a profile, its secret masked',
  needs: 'nothing',
  fields: FIELDS,
  arguments: {
    name: optionalArgument('name of the profile; default the current one', { completes: 'profiles' }),
  },
  examples: [{ line: 'rtc profile show', does: 'The current one' }],
  async run(context, input) {
    const store = await readProfiles(context.io);
    const name = input.name ?? (context.io.env.RTC_PROFILE || undefined) ?? store.current;
    if (name === undefined)
      throw new CliError(EXIT.notFound, 'there is no profile', 'run: rtc profile add NAME');
    pick(context, store, name);
    const shown = show(context, store, name);
    return record(shown, COLUMNS);
  },
});

const remove = defineCommand({
  verb: 'remove',
  summary: 'Delete profiles',
  needs: 'nothing',
  arguments: { names: listOfExisting('name of the profile, or of several', 'profiles') },
  options: { yes: YES },
  examples: [{ line: 'rtc profile remove old', does: 'Asks first' }],
  async run(context, { names, yes }) {
    const store = await readProfiles(context.io);
    const known = names.filter((name) => Object.hasOwn(store.profiles, name));
    await confirmOrRefuse(context.prompter, {
      isSure: yes || known.length === 0,
      what: 'removing a profile',
      question: async () => `Remove ${known.join(', ')}? A secret that is saved in it is lost.`,
    });
    const { exitCode, succeeded } = await forEachTarget(context, names, async (name) => {
      pick(context, store, name);
    });
    if (succeeded.length === 0) return nothing({ exitCode });
    const profiles = Object.fromEntries(
      Object.entries(store.profiles).filter(([name]) => !succeeded.includes(name)),
    );
    const isCurrentGone = store.current !== undefined && succeeded.includes(store.current);
    await writeProfiles(context.io, { current: isCurrentGone ? undefined : store.current, profiles });
    const next = isCurrentGone ? ' No profile is the current one now: rtc profile use NAME' : '';
    return done(`Removed ${succeeded.join(', ')}.${next}`, { exitCode });
  },
});

function pick(context: Context, store: ProfileStore, name: string): Profile {
  const profile = Object.hasOwn(store.profiles, name) ? store.profiles[name] : undefined;
  if (profile !== undefined) return profile;
  throw noProfile(context, store, name);
}

function noProfile(context: Context, store: ProfileStore, name: string): CliError {
  const known = Object.keys(store.profiles);
  return new CliError(
    EXIT.notFound,
    `there is no profile ${JSON.stringify(name)} in ${profilesPath(context.io)}${didYouMean(name, known)}`,
    known.length === 0 ? 'run: rtc profile add NAME' : `choose from ${known.join(', ')}`,
  );
}

function show(context: Context, store: ProfileStore, name: string): ShownProfile {
  const profile = store.profiles[name];
  if (profile === undefined) throw noProfile(context, store, name);
  const { apiSecretCommand, apiSecretFile } = profile;
  const source = apiSecretCommand === undefined ? apiSecretFile : `$(${apiSecretCommand})`;
  return {
    name,
    url: profile.url,
    apiKey: maskKey(profile.apiKey),
    apiSecret: source ?? '***',
    current: store.current === name,
  };
}

export const add = defineCommand({
  verb: 'add',
  summary: 'Save a service and its key under a name',
  description:
    'The secret is never an argument: it comes from a prompt, stdin, a file, or a command that prints it. The first profile becomes the current one.',
  needs: 'nothing',
  arguments: { name: argument('name of the profile') },
  options: {
    url: option('--url <url>', `address of the service; default ${DEFAULT_URL}`, serviceUrl),
    apiKey: option('--api-key <key>', 'API key'),
    secretStdin: flag('--secret-stdin', 'read the API secret from stdin, and save it'),
    secretFile: option('--secret-file <file>', 'read the API secret from this file at every use', {
      completes: 'files',
    }),
    secretCommand: option(
      '--secret-command <command>',
      'run this command at every use; it prints the API secret',
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
  return { url, apiKey, ...(await readSecret(context, input)) };
}

async function askUrl(context: Context): Promise<string> {
  const validate = (typed: string): string | undefined => validationMessage(serviceUrl, typed);
  return context.prompter.textOr('Address of the service:', DEFAULT_URL, validate);
}

async function readSecret(context: Context, input: ProfileInput): Promise<Partial<Profile>> {
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

export const commands = ofNoun('profile', [add, listProfiles, use, showProfile, remove]);
