import type { DevAddOn } from '../../../contract/choices.ts';
import type { Hint } from '../../../contract/hint.ts';
import type { RunningChild } from '../binaries/child-process.ts';

/** A process beside the service, which a part of the API needs. */
export type AddOn = {
  readonly name: DevAddOn;
  readonly logFile: string;
  readonly start: (logMode: 'truncate' | 'append') => RunningChild;
  /** Whether the service finds the add-on ready for work. */
  readonly isReady: (serviceUrl: string) => Promise<boolean>;
};

/** An add-on that cannot run, and what it is missing. */
export type AbsentAddOn = {
  readonly name: DevAddOn;
  readonly reason: string;
  readonly hint: Hint | undefined;
};
