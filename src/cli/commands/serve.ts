import { type Command, defineCommand } from '../command.ts';
import { EXIT } from '../failure.ts';
import { flag, notEmpty, option, wholeNumber } from '../parameters.ts';
import { done, nothing } from '../result.ts';
import { startFailure } from '../start-failure.ts';

export const HOST = option('--host <address>', 'address to listen on (HOST)', { parse: notEmpty });
export const PORT = option('--port <port>', 'port to listen on, 0 for a free one (PORT)', {
  parse: wholeNumber(0, 65_535),
});

const serve = defineCommand({
  noun: 'serve',
  verb: '',
  summary: 'Run the service',
  description: 'Its settings are environment variables (rtc help environment). Ctrl-C stops it in order.',
  needs: 'nothing',
  arguments: {},
  options: {
    check: flag('--check', 'check the settings and stop; exit code 7 when one is bad'),
    printConfig: flag('--print-config', 'print the effective settings, secrets masked, and stop'),
    host: HOST,
    port: PORT,
  },
  examples: [
    {
      line: 'API_KEY=key1 API_SECRET=… LIVEKIT_URL=ws://localhost:7880 rtc serve',
      does: 'On 127.0.0.1:3000',
    },
    { line: 'rtc serve --check', does: 'Before a deployment' },
  ],
  async run(context, { check, printConfig, host, port }) {
    try {
      const { serve: run } = await context.io.loaders.serve();
      await run({ check, printConfig, host, port, signal: context.io.signal });
    } catch (error) {
      const exitCode = check ? EXIT.negative : EXIT.failure;
      throw startFailure(error, { exitCode, signal: context.io.signal });
    }
    return check && !printConfig ? done('The settings are good.') : nothing();
  },
});

export const commands: readonly Command[] = [serve];
