import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Started, startRtc } from '../../cli/support/process.ts';
import { recorderEnvironment } from '../../support/parts/recorder.ts';
import { freePort } from '../../support/parts/run-part.ts';

/** A running `rtc dev`, with what it printed. */
export type Dev = {
  readonly started: Started;
  readonly dataDir: string;
  readonly roomLink: string;
  readonly consoleLink: string;
  readonly hasRecorder: boolean;
  readonly credentials: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
};

export type DevOptions = {
  /** The folder of its profiles and its data. */
  readonly home: string;
  readonly argv: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
};

/** Starts `rtc dev` with settings of its own and the models and programs of this machine. Its end is SIGINT. */
export async function startDev({ home, argv, settings }: DevOptions): Promise<Dev> {
  await mkdir(home, { recursive: true });
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
    DATA_DIR: join(home, 'data'),
    PORT: String(await freePort()),
    ...recorderEnvironment(),
    ...settings,
  };
  const started = startRtc(['dev', ...argv], { env, cwd: home });
  await started.seen(/Ctrl-C stops it all/);
  const text = started.output();
  const { profiles } = JSON.parse(await readFile(join(home, 'rtc/config.json'), 'utf8'));
  return {
    started,
    dataDir: env.DATA_DIR,
    roomLink: /See your face in the room demo: (\S+)/.exec(text)?.[1] ?? '',
    consoleLink: /See it all in the console: (\S+)/.exec(text)?.[1] ?? '',
    hasRecorder: /Recorder +LiveKit's egress worker/.test(text),
    credentials: profiles.dev,
  };
}

/** The environment of commands that call its service. */
export function commandEnvironment({
  credentials,
}: Pick<Dev, 'credentials'>): Readonly<Record<string, string>> {
  const { url, apiKey, apiSecret } = credentials;
  return { RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret };
}
