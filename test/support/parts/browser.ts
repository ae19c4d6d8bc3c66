import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** A real browser whose camera shows a test picture and whose microphone beeps once a second. */
export type TestBrowser = {
  /** A window of its own, with storage of its own. */
  readonly openWindow: (options?: WindowOptions) => Promise<BrowserContext>;
  readonly close: () => Promise<void>;
};

export type WindowOptions = {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly hasTouch?: boolean;
  readonly isMobile?: boolean;
  readonly javaScriptEnabled?: boolean;
  /** Of the browser, such as `it-IT`. */
  readonly locale?: string;
};

export type BrowserOptions = {
  /** A WAV file that the microphone hears over and over, instead of the beeps. */
  readonly microphone?: string;
};

export async function startBrowser({ microphone }: BrowserOptions = {}): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      // Tests run as root in containers, where the sandbox cannot be set up.
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
      ...(microphone === undefined ? [] : [`--use-file-for-fake-audio-capture=${microphone}`]),
    ],
  });
  return {
    openWindow: ({ width = 1440, height = 900, colorScheme = 'dark', ...others }: WindowOptions = {}) =>
      browser.newContext({ viewport: { width, height }, colorScheme, ...others }),
    close: () => browser.close(),
  };
}

const EXPECTED = 'Failed to load resource: the server responded with a status of 4';

/**
 * What went wrong in the page: uncaught errors, and what its content security policy refused. Chromium also writes each
 * response of 400 and more to its console; those that a page expects are left out.
 */
export function collectErrors(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() !== 'error' || message.text().startsWith(EXPECTED)) return;
    errors.push(message.text());
  });
  return errors;
}
