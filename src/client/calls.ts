import type { Answer, SendOptions } from './client-options.ts';
import type { WaitDeps } from './until-answered.ts';

/**
 * What a part of RtcClient calls with. RtcClient is one object with all methods, and its parts are files by subject:
 * each extends the one before it.
 */
export abstract class Calls {
  /** The answer's JSON. */
  protected abstract call<T>(method: string, path: string, options?: SendOptions): Promise<T>;
  /** How those wait that follow. */
  protected abstract readonly waiting: WaitDeps;
  protected abstract send(method: string, path: string, options?: SendOptions): Promise<Answer>;
}
