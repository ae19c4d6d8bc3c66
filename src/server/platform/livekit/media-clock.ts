import type { SelfCheck } from '../../../contract/self-check.ts';
import { CLOCKS_APART_MS, type Clock } from '../clock.ts';

/** An observation says nothing about the present after this time. */
const MAX_AGE_MS = 600_000;
/** The Date of a response and the time of a webhook are whole seconds, rounded down. */
const SECOND_MS = 1000;
/** LiveKit repeats a webhook for so long. */
const LATEST_WEBHOOK_MS = 15_000;

/** From here on it is more than clocks differ that are set at all. LiveKit refuses tokens from the second one on. */
const NOTED_MS = 30_000;
const ASK_TIMEOUT_MS = 5_000;

/** Bounds of what has to be added to our monotonic clock to get LiveKit's time of day. */
type Offset = { readonly least: number; readonly most: number; readonly at: number };

/** The time of day at LiveKit, as its responses and its webhooks tell it. */
export class MediaClock {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #ofResponse: Offset | undefined;
  #ofWebhook: Offset | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** @param sentAt when the request was sent, by the monotonic clock */
  observeResponse(date: string | readonly string[] | undefined, sentAt: number): void {
    const time = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(time)) return;
    const at = this.#clock.monotonic();
    this.#ofResponse = { least: time - at, most: time + SECOND_MS - sentAt, at };
  }

  /** Less exact than a response, because a webhook may come late; used only where the SDK hides the responses. */
  observeWebhook(createdAt: number): void {
    const at = this.#clock.monotonic();
    this.#ofWebhook = { least: createdAt - at, most: createdAt + SECOND_MS + LATEST_WEBHOOK_MS - at, at };
  }

  /**
   * Milliseconds by which LiveKit's clock is ahead of `now`, negative when it is behind; 0 while they may be the same.
   * Undefined when LiveKit has told no time in the last ten minutes.
   */
  readDifference(now: number): number | undefined {
    const monotonic = this.#clock.monotonic();
    const isRecent = (offset: Offset | undefined): boolean =>
      offset !== undefined && monotonic - offset.at <= MAX_AGE_MS;
    const offset = isRecent(this.#ofResponse) ? this.#ofResponse : this.#ofWebhook;
    if (offset === undefined || !isRecent(offset)) return undefined;
    const [least, most] = [offset.least + monotonic - now, offset.most + monotonic - now];
    return least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2);
  }
}

/**
 * Asks LiveKit for the time. Resolves to the milliseconds by which its clock is ahead of ours; to undefined without a
 * response.
 */
export async function askMediaDifference(
  livekitUrl: string,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): Promise<number | undefined> {
  const mediaClock = new MediaClock(clock);
  const sentAt = clock.monotonic();
  try {
    const { headers } = await fetch(livekitUrl.replace(/^ws/, 'http'), {
      method: 'HEAD',
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    });
    mediaClock.observeResponse(headers.get('date') ?? undefined, sentAt);
  } catch {
    return undefined;
  }
  return mediaClock.readDifference(clock.now());
}

/** The check for `rtc doctor`; nothing while LiveKit's time is unknown, because another check says that it does not respond. */
export function checkMediaClock(
  mediaClock: Pick<MediaClock, 'readDifference'>,
  now: number,
): readonly SelfCheck[] {
  const differenceMs = mediaClock.readDifference(now);
  if (differenceMs === undefined) return [];
  const seconds = Math.round(Math.abs(differenceMs) / 1000);
  const size = Math.abs(differenceMs);
  const detail =
    seconds === 0
      ? "agrees with the service's clock, to a second"
      : `is ${seconds} s ${differenceMs > 0 ? 'ahead of' : 'behind'} the service's clock`;
  if (size < NOTED_MS) return [{ check: "LiveKit's clock", status: 'ok', detail, next: '' }];
  return [
    {
      check: "LiveKit's clock",
      status: size > CLOCKS_APART_MS ? 'fault' : 'warning',
      detail: size > CLOCKS_APART_MS ? `${detail}: tokens may be refused, and nothing is deleted` : detail,
      next: 'correct the wrong clock (NTP)',
    },
  ];
}
