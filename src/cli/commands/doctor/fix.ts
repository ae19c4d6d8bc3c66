import { EXIT } from '../../errors/cli-error.ts';
import { startError } from '../../errors/start-error.ts';
import type { Context } from '../../framework/context.ts';
import type { MediaWorkerKind, Repair } from '../../terminal/io.ts';
import { printStatus } from '../../terminal/terminal.ts';
import type { Check } from './checks.ts';

/** The checks that say whether a worker is connected, by the worker that they are about. */
const WORKER_CHECKS: Readonly<Record<string, MediaWorkerKind>> = {
  recorder: 'egress',
  'ingress worker': 'ingress',
};

/** Says on stderr what was done, and what was not and why. The result is that of the checks, which are made again. */
export async function fixWhatIsMissing(context: Context, checks: readonly Check[]): Promise<void> {
  const { io, terminal } = context;
  const missing = checks
    .filter(({ status }) => status === 'fault' || status === 'note')
    .flatMap(({ check }) => WORKER_CHECKS[check] ?? []);
  try {
    const admin = await io.loaders.admin();
    for (const repair of await admin.fix(missing, io.signal)) printStatus(terminal, describe(repair));
  } catch (error) {
    throw startError(error, { exitCode: EXIT.usage, signal: io.signal });
  }
}

function describe({ subject, status, detail, next }: Repair): string {
  const said = `${subject}: ${status === 'done' ? '' : `${status}, `}${detail}`;
  return next === '' ? said : `${said}; ${next}`;
}
