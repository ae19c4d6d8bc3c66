import { maskKey } from '../../connection/mask-secrets.ts';
import {
  type Profile,
  type ProfileStore,
  profilesPath,
  readProfiles,
  writeProfiles,
} from '../../connection/profiles.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { didYouMean } from '../../errors/did-you-mean.ts';
import { type Command, defineCommand } from '../../framework/command.ts';
import { YES } from '../../framework/common-options.ts';
import type { Context } from '../../framework/context.ts';
import { forEachTarget } from '../../framework/for-each-target.ts';
import { existing, listOfExisting, optionalArgument } from '../../framework/parameters.ts';
import { confirmOrRefuse } from '../../framework/prompts.ts';
import { type Column, done, list, nothing, record } from '../../terminal/result.ts';
import { add } from './add-command.ts';

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
  noun: 'profile',
  verb: 'list',
  aliases: ['ls'],
  summary: 'List the profiles',
  needs: 'nothing',
  fields: FIELDS,
  arguments: {},
  options: {},
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
  noun: 'profile',
  verb: 'use',
  summary: 'Choose the profile that commands use',
  needs: 'nothing',
  arguments: { name: NAME },
  options: {},
  examples: [{ line: 'rtc profile use prod', does: 'From now on' }],
  async run(context, { name }) {
    const store = await readProfiles(context.io);
    pick(context, store, name);
    await writeProfiles(context.io, { ...store, current: name });
    return done(`Commands now use profile ${name}.`);
  },
});

const showProfile = defineCommand({
  noun: 'profile',
  verb: 'show',
  summary: 'Show a profile, its secret masked',
  needs: 'nothing',
  fields: FIELDS,
  arguments: {
    name: optionalArgument('name of the profile; default the current one', { completes: 'profiles' }),
  },
  options: {},
  examples: [{ line: 'rtc profile show', does: 'The current one' }],
  async run(context, input) {
    const store = await readProfiles(context.io);
    const name = input.name ?? (context.io.env.RTC_PROFILE || undefined) ?? store.current;
    if (name === undefined)
      throw new CliError(EXIT.notFound, 'there is no profile', 'run: rtc profile add NAME');
    pick(context, store, name);
    const shown = show(context, store, name);
    return record({ response: shown, record: shown, columns: COLUMNS });
  },
});

const remove = defineCommand({
  noun: 'profile',
  verb: 'remove',
  aliases: ['rm'],
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

export const commands: readonly Command[] = [add, listProfiles, use, showProfile, remove];

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
