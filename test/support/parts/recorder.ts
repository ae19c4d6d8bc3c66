import { findRecorderProgram } from '../../../src/server/dev/add-ons/recorder.ts';

/** Whether `rtc dev` finds LiveKit's recorder on this machine. */
export async function isRecorderInstalled(environment: NodeJS.ProcessEnv): Promise<boolean> {
  return await findRecorderProgram(environment).then(
    () => true,
    () => false,
  );
}

/** Environment variables of the recorder, its sound server and its programs. */
const VARIABLES = ['EGRESS_PROGRAM', 'XDG_RUNTIME_DIR', 'PULSE_SERVER', 'GST_PLUGIN_PATH'] as const;

/** Returns those that are set here, for an `rtc dev` with an environment of its own. */
export function recorderEnvironment(): Readonly<Record<string, string>> {
  const given = VARIABLES.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
