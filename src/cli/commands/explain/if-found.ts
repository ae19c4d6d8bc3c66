import { RtcError } from '../../../client/rtc-error.ts';

/** Returns undefined when the service responds with a not-found error. */
export async function ifFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RtcError && error.status === 404) return undefined;
    throw error;
  }
}
