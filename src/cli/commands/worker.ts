import { WORKER_KINDS } from '../../contract/choices.ts';
import { EXIT } from '../errors/cli-error.ts';
import { isMissingPackages, startError } from '../errors/start-error.ts';
import { argument, defineCommand, ofNoun } from '../framework/parameters.ts';
import { nothing } from '../terminal/result.ts';

const worker = defineCommand({
  summary: 'Run a worker of a transcription add-on',
  description:
    "stt-live transcribes rooms during the call, stt-post transcribes recordings after it. You can run any number of each, on any machine that shares the service's database. Workers read the settings of the service (rtc serve --print-config) and those named STT_. Install a model first: rtc stt install moonshine-tiny-en. Ctrl-C stops a worker cleanly; another worker continues its work.",
  needs: 'nothing',
  arguments: { kind: argument('add-on', { choices: WORKER_KINDS }) },
  examples: [
    { line: 'rtc worker stt-live', does: 'Beside a service on the same machine and DATA_DIR' },
    { line: 'DATABASE_URL=postgres://… rtc worker stt-post', does: 'On another machine' },
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

export const commands = ofNoun('worker', [worker]);
