import { findRecorderProgram } from '../../../src/server/dev/add-ons/recorder.ts';

/** Whether `rtc dev` finds LiveKit's recorder on this machine. */
export async function isRecorderInstalled(environment: NodeJS.ProcessEnv): Promise<boolean> {
  return await findRecorderProgram(environment).then(
    () => true,
    () => false,
  );
}
