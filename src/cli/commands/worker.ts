import { WORKER_KINDS } from '../../contract/choices.ts';
import { EXIT } from '../errors/cli-error.ts';
import { isMissingPackages, startError } from '../errors/start-error.ts';
import { type Command, defineCommand } from '../framework/command.ts';
import { argument } from '../framework/parameters.ts';
import { nothing } from '../terminal/result.ts';

const worker = defineCommand({
  noun: 'worker',
  verb: '',
  summary: 'Run a worker of a transcription add-on',
  description:
    "stt-live transcribes rooms while they talk, stt-post recordings after the call. Any number of each may run, on any machine that shares the service's database; they read the settings of the service (rtc serve --print-config), those named STT_ among them. A model comes first: rtc stt install moonshine-tiny-en. Ctrl-C stops it in order; what it had in hand goes to another.",
  needs: 'nothing',
  arguments: { kind: argument('add-on', { choices: WORKER_KINDS }) },
  options: {},
  examples: [
    { line: 'rtc worker stt-live', does: 'Beside a service on the same machine and DATA_DIR' },
    { line: 'DATABASE_URL=postgres://… rtc worker stt-post', does: 'On a machine of its own' },
  ],
  async run(context, { kind }) {
    const { signal, loaders } = context.io;
    try {
      const { runWorker } = await loaders.worker();
      await runWorker({ kind, signal });
    } catch (error) {
      throw startError(error, {
        exitCode: isMissingPackages(error) ? EXIT.unavailable : EXIT.failure,
        signal,
      });
    }
    return nothing();
  },
});

export const commands: readonly Command[] = [worker];
