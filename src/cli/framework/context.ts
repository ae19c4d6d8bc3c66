import type { RtcClient } from '../../client/client.ts';
import type { CommonFlags, SeenResponses } from '../connection/connect.ts';
import type { Settings } from '../connection/settings.ts';
import type { Io } from '../terminal/io.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Prompter } from './prompts.ts';

/** The dependencies of a command: its streams, settings and client. */
export type Context = {
  readonly io: Io;
  readonly responses: SeenResponses;
  /** The running command, such as `rooms create`. */
  readonly command: string;
  /** The typed words after the noun, with options: `create demo --json`. */
  readonly argv: readonly string[];
  readonly terminal: Terminal;
  readonly prompter: Prompter;
  readonly flags: CommonFlags;
  /** The help of a topic or of the command that the words name; without words the whole help. */
  writeHelp(words: readonly string[]): Promise<string>;
  /** The service's address and the API key, read on first use. */
  settings(): Promise<Settings>;
  /** The signing client, created on first use. With --curl its requests are printed instead of sent. */
  client(): Promise<RtcClient>;
  /**
   * The client for what a command must read before its change: with --curl its requests are sent, so that the change can be
   * printed.
   */
  readOnlyClient(): Promise<RtcClient>;
};
