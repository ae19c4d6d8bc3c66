import { existsSync } from 'node:fs';
import { basename, delimiter, join, relative, resolve } from 'node:path';
import type { DevAddOn } from '../../../contract/choices.ts';
import type { AbsentAddOn, DevReady } from '../../../contract/launcher.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { type ProfileStore, readProfiles, writeProfiles } from '../../connection/profiles.ts';
import { describeError } from '../../errors/describe-error.ts';
import type { Context } from '../../framework/context.ts';
import type { Io } from '../../terminal/io.ts';
import { jsonLine, select } from '../../terminal/output.ts';
import { printStatus, printWarning, type Terminal } from '../../terminal/terminal.ts';
import { wrapForTerminal } from '../../terminal/wrap-text.ts';

const MEDIA = {
  external: 'the media server of LIVEKIT_URL',
  livekit: 'a real LiveKit server',
  embedded: 'the embedded stand-in: it carries no sound and no pictures',
} as const;

/** Columns of a label such as `  Media server  `. */
const LABEL_WIDTH = 16;

/** The profile of this service, the data that a command needs to use it, and the links of its pages, if they are served. */
export type Announcement = KeptProfile & {
  readonly roomLink: string | undefined;
  readonly consoleLink: string | undefined;
};

/** Prints what is running and what to try. */
export async function announceDev(
  context: Context,
  ready: DevReady,
  { profile, option, roomLink, consoleLink }: Announcement,
): Promise<void> {
  const { dataDir, media, url, addOns } = ready;
  if (context.terminal.json !== undefined)
    return printReady(context.terminal, { url, profile, dataDir, media, addOns: addOns.running });
  const rtc = programName(context.io);
  const { heading, name } = context.terminal.palette;
  const described = (text: string): string => wrapForTerminal(context.io.stdout, text, LABEL_WIDTH);
  const lines = [
    '',
    `${heading('The service is up')} at ${name(ready.url)}`,
    `  Reference     ${ready.url}/docs`,
    `  Media server  ${described(`${MEDIA[ready.media.kind]}, ${ready.media.url}`)}`,
    ...ready.media.notes.map((note) => ' '.repeat(LABEL_WIDTH) + described(note)),
    ...addOnLines(ready.addOns, rtc).map(({ label, text }) => label.padEnd(LABEL_WIDTH) + described(text)),
    `  Profile       ${profile}${ready.areCredentialsNew ? ' (new API_KEY and API_SECRET)' : ''}`,
    `  Data          ${ready.dataDir}`,
    ...(roomLink === undefined
      ? []
      : ['', `${heading('See your face')} in the room demo: ${name(roomLink)}`]),
    ...(consoleLink === undefined
      ? []
      : ['', `${heading('See it all')} in the console: ${name(consoleLink)}`]),
    '',
    heading('Try, in another terminal:'),
    `  ${rtc} rooms create demo${option}`,
    `  ${rtc} tokens create --room demo --identity ada --role host${option}`,
    ready.media.kind === 'embedded'
      ? `  ${rtc} dev join demo ada${option}`
      : `  ${rtc} participants list demo${option}`,
    `  ${rtc} webhooks listen${option}`,
    '',
    'Ctrl-C stops it all.',
    '',
  ];
  context.io.stdout.write(lines.join('\n'));
}

/** In a checkout there is no `rtc` on the PATH yet. */
function programName(io: Io): string {
  const folders = (io.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  if (folders.some((folder) => existsSync(join(folder, 'rtc')))) return 'rtc';
  return `node ${shellQuote(relative(io.workingDirectory, io.launcher))}`;
}

export type KeptProfile = { readonly profile: string; readonly option: string };

/**
 * Stores the credentials as the profile of this folder. The profile becomes the current one if there is none; otherwise the
 * printed commands must name it. An unusable config file does not stop a running service.
 */
export async function keepProfile(
  context: Context,
  { url, apiKey, apiSecret, dataDir }: DevReady,
): Promise<KeptProfile> {
  const { workingDirectory } = context.io;
  try {
    const store = await readProfiles(context.io);
    const devDataDir = resolve(workingDirectory, dataDir);
    const profile = devProfileName(store, { dataDir: devDataDir, project: basename(workingDirectory) });
    const current = store.current ?? profile;
    await writeProfiles(context.io, {
      current,
      profiles: { ...store.profiles, [profile]: { url, apiKey, apiSecret, devDataDir } },
    });
    return { profile, option: current === profile ? '' : ` --profile ${profile}` };
  } catch (error) {
    const { cause, next } = describeError(error, context.io.clock());
    printWarning(context.terminal, `the profile of this service could not be saved: ${cause}`);
    if (next !== undefined) printStatus(context.terminal, next);
    return { profile: '(not kept)', option: ` --url ${url}` };
  }
}

/** Prints one line for programs, without secrets. */
function printReady(terminal: Terminal, ready: Record<(typeof READY_FIELDS)[number], unknown>): void {
  const { json } = terminal;
  const shown = json === undefined || json === 'everything' ? ready : select(ready, json);
  terminal.io.stdout.write(`${jsonLine(terminal, shown)}\n`);
}

export const READY_FIELDS = ['url', 'profile', 'dataDir', 'media', 'addOns'] as const;

type AddOnLine = { readonly label: string; readonly text: string };

const RUNNING: Readonly<Record<DevAddOn, AddOnLine>> = {
  'stt-live': { label: '  Captions', text: 'of what is said in a room' },
  'stt-post': { label: '  Transcripts', text: 'of recordings' },
  recorder: { label: '  Recorder', text: "LiveKit's egress worker" },
};

/**
 * Describes for each add-on that it works, or what it is missing and the command for it. `rtc` is the program's name here.
 */
function addOnLines({ running, absent }: DevReady['addOns'], rtc: string): readonly AddOnLine[] {
  const speech = absent.filter(({ name }) => name !== 'recorder');
  const [first, ...others] = speech.map((one) => describeMissing(one, rtc));
  const isSame = others.length > 0 && others.every((text) => text === first);
  const alone = isSame ? absent.filter(({ name }) => name === 'recorder') : absent;
  return [
    ...running.map((name) => RUNNING[name]),
    ...(isSame ? [{ label: '  Speech', text: first ?? '' }] : []),
    ...alone.map((one) => ({ label: RUNNING[one.name].label, text: describeMissing(one, rtc) })),
  ];
}

/**
 * Describes a missing add-on, such as `none: there is no speech model yet; install the small English one: rtc stt install
 * …`.
 */
function describeMissing({ reason, hint }: AbsentAddOn, rtc: string): string {
  const command = hint?.command?.replace(/^rtc /, `${rtc} `);
  const next =
    hint === undefined ? [] : [[hint.text, ...(command === undefined ? [] : [command])].join(': ')];
  return `none: ${[lowerFirst(reason), ...next].join('; ')}`;
}

/** Keeps a word in capitals. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) && !text.startsWith('LiveKit')
    ? text.charAt(0).toLowerCase() + text.slice(1)
    : text;
}

const FIRST = 'dev';

/**
 * Returns the profile of the `rtc dev` with this data folder: its earlier one, or else `dev` if no other folder has it, or
 * else one that is named after the project, such as `dev-shop`.
 */
function devProfileName(
  { profiles }: ProfileStore,
  folder: { readonly dataDir: string; readonly project: string },
): string {
  const own = Object.entries(profiles).find(([, { devDataDir }]) => devDataDir === folder.dataDir);
  if (own !== undefined) return own[0];
  if (isFree(profiles, FIRST)) return FIRST;
  const project = folder.project.replace(/[^\w.-]+/g, '-').slice(0, 48);
  const name = `${FIRST}-${project === '' ? 'project' : project}`;
  let free = name;
  for (let count = 2; !isFree(profiles, free); count += 1) free = `${name}-${count}`;
  return free;
}

/** A profile `dev` of an earlier version has no folder; it belonged to the last one. */
function isFree(profiles: ProfileStore['profiles'], name: string): boolean {
  return !Object.hasOwn(profiles, name) || (name === FIRST && profiles[name]?.devDataDir === undefined);
}
