import type { RtcClient } from '../client/client.ts';
import type { Io } from './io.ts';
import { createPrompter, type Prompter } from './prompter.ts';
import type { Screen } from './screen.ts';
import type { ConnectionFlags, Settings } from './settings.ts';

/** The options that every command takes, apart from its own. */
export type CommonFlags = ConnectionFlags & { readonly isDebug: boolean; readonly isCurl: boolean };

/** What a command gets beside its input. */
export type Context = {
  readonly io: Io;
  /** The command that runs, such as `rooms create`, and the words that it was given. */
  readonly command: string;
  readonly argv: readonly string[];
  readonly screen: Screen;
  readonly prompter: Prompter;
  readonly flags: CommonFlags;
  /** Where the service is and who we are; read on first use. */
  settings(): Promise<Settings>;
  /** The signing client, made on first use. With --curl its requests are printed instead of sent. */
  client(): Promise<RtcClient>;
  /** For what a command must know before it acts: with --curl it still asks, so that the act can be printed. */
  lookingClient(): Promise<RtcClient>;
};

export type OpenContext = { readonly context: Context; close(): Promise<void> };

/** The command line that a context is for. */
type Call = { readonly command: string; readonly argv: readonly string[]; readonly flags: CommonFlags };

export function openContext(io: Io, screen: Screen, { command, argv, flags }: Call): OpenContext {
  let settings: Promise<Settings> | undefined;
  let client: Promise<RtcClient> | undefined;
  let looking: Promise<RtcClient> | undefined;
  const context: Context = {
    io,
    command,
    argv,
    screen,
    flags,
    prompter: createPrompter(io),
    settings: () => {
      settings ??= import('./settings.ts').then((module) => module.resolveSettings(io, flags));
      return settings;
    },
    client: () => {
      client ??= import('./connect.ts').then((module) => module.connect(context));
      return client;
    },
    lookingClient: () => {
      if (!flags.isCurl) return context.client();
      looking ??= import('./connect.ts').then((module) => module.connectToLook(context));
      return looking;
    },
  };
  return {
    context,
    close: async () => {
      for (const opening of [client, looking]) {
        // A client that could not be made has been reported already, and holds nothing.
        const opened = await opening?.catch(() => undefined);
        await opened?.close();
      }
    },
  };
}
