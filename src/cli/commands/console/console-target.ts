import type { RtcClient } from '../../../client/client.ts';
import type { Check } from '../doctor/checks.ts';

/** The service of a console, and the functions of the command line that the page needs. */
export type ConsoleTarget = {
  readonly client: RtcClient;
  readonly info: ConsoleInfo;
  /** Runs the checks of `rtc doctor`; `withProbe` creates rooms of its own for a while. */
  readonly runChecks: (options: { readonly withProbe: boolean }) => Promise<readonly Check[]>;
  /** Returns the link of a page that joins the room, as `rtc rooms open` serves it. */
  readonly openRoom: (room: string) => Promise<string>;
};

/** Facts about the command line for the page. The same shape as in src/web/console/api/console-info.ts, which reads it. */
export type ConsoleInfo = {
  /** Name of the profile; null when the address comes from an option or a variable. */
  readonly profile: string | null;
  /** Address of the service. */
  readonly url: string;
  readonly isProtected: boolean;
  readonly isReadOnly: boolean;
  /** The options with which a copied command reaches the same service: `` or ` --profile prod`. */
  readonly commandOptions: string;
  readonly version: string;
};
