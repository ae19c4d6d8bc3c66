/** Runs one command from its sources, as the launcher does it, for cli-calls.ts. */
import { main } from '../../src/cli/main.ts';

const absent = async (): Promise<never> => {
  throw new Error('only commands of the command line itself are counted');
};

process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  workingDirectory: process.cwd(),
  launcher: 'rtc',
  processId: process.pid,
  runtime: { node: process.versions.node, platform: process.platform, arch: process.arch },
  signal: new AbortController().signal,
  clock: Date.now,
  processControl: { onSignal: () => () => {}, onExit: () => () => {}, stop: () => {} },
  loaders: {
    serve: absent,
    dev: absent,
    worker: absent,
    roomClient: absent,
    stt: absent,
    admin: absent,
    bundled: absent,
  },
});
