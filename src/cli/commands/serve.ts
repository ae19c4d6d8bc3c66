import { EXIT } from '../errors/cli-error.ts';
import { startError } from '../errors/start-error.ts';
import { defineCommand, flag, ofNoun, option, wholeNumber } from '../framework/parameters.ts';
import { done, nothing, type Result, text } from '../terminal/result.ts';

export const HOST = option('--host <address>', 'address to listen on (HOST)');
export const PORT = option(
  '--port <port>',
  'port to listen on, 0 for a free one (PORT)',
  wholeNumber(0, 65_535),
);

export const NEW_KEY = flag(
  '--new-key',
  'make a new encryption key if its file is lost, although stored secrets then cannot be opened',
);

const serve = defineCommand({
  summary: 'Run the service',
  description:
    'Settings are environment variables, or lines of a file .env in the current folder. API_KEY and API_SECRET are required; LIVEKIT_URL is the address of the media server. rtc serve --print-config lists all settings. Ctrl-C shuts the service down cleanly.',
  needs: 'nothing',
  fields: ({ printConfig }) => (printConfig ? 'of-response' : []),
  options: {
    check: flag('--check', 'check the settings and DATA_DIR, and exit; the exit code is 7 if one is invalid'),
    printConfig: flag('--print-config', 'print the effective settings, secrets masked, and exit'),
    newKey: NEW_KEY,
    host: HOST,
    port: PORT,
  },
  examples: [
    {
      line: 'API_KEY=key1 API_SECRET=… LIVEKIT_URL=ws://localhost:7880 rtc serve',
      does: 'On 127.0.0.1:3000',
    },
    { line: 'rtc serve --check', does: 'Before a deployment' },
    { line: 'rtc serve --print-config --json HOST,PORT', does: 'Two of the effective settings' },
  ],
  async run(context, { check, printConfig, newKey, host, port }) {
    const { signal, loaders } = context.io;
    try {
      const { serve: run, readSettings } = await loaders.serve();
      if (printConfig) return settingsResult(readSettings({ host, port }));
      await run({ check, newKey, host, port, signal });
    } catch (error) {
      throw startError(error, { exitCode: check ? EXIT.negative : EXIT.failure, signal });
    }
    return check ? done('The settings are good, and DATA_DIR can be used.') : nothing();
  },
});

/** Prints settings in the form of a .env file, on a terminal too. */
function settingsResult(settings: Readonly<Record<string, string>>): Result {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  return text(lines.join(''), { response: settings });
}

export const commands = ofNoun('serve', [serve]);
