import type { RtcClient } from '../../client/client.ts';
import type { Settings } from '../connection/settings.ts';
import type { Io } from '../terminal/io.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Context } from './context.ts';
import { createPrompter } from './prompts.ts';

export type OpenContext = { readonly context: Context; close(): Promise<void> };

/** The command line that a context is for. */
type Call = Pick<Context, 'command' | 'argv' | 'flags' | 'helpOf'>;

export function openContext(io: Io, terminal: Terminal, call: Call): OpenContext {
  let settings: Promise<Settings> | undefined;
  let client: Promise<RtcClient> | undefined;
  let looking: Promise<RtcClient> | undefined;
  const context: Context = {
    io,
    terminal,
    responses: { unmarked: undefined },
    ...call,
    prompter: createPrompter(io),
    settings: () => {
      settings ??= import('../connection/settings.ts').then((module) =>
        module.resolveSettings(io, call.flags),
      );
      return settings;
    },
    client: () => {
      client ??= import('../connection/connect.ts').then((module) => module.connect(context));
      return client;
    },
    readOnlyClient: () => {
      if (!call.flags.isCurl) return context.client();
      looking ??= import('../connection/connect.ts').then((module) => module.connectReadOnly(context));
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
