import { RtcError } from '../../../client/rtc-error.ts';

/** Undefined where the service answers that there is no such thing. */
export async function ifFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RtcError && error.status === 404) return undefined;
    throw error;
  }
}
