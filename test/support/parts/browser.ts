import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** A real browser. Its camera shows a test picture, and its microphone beeps once a second. */
export type TestBrowser = {
  /** Opens a window with separate storage. */
  readonly openWindow: (options?: WindowOptions) => Promise<BrowserContext>;
  readonly close: () => Promise<void>;
};

export type WindowOptions = {
  readonly width?: number;
  readonly height?: number;
  /** Pixels of the screen for each of CSS, in both directions. */
  readonly deviceScaleFactor?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly hasTouch?: boolean;
  readonly isMobile?: boolean;
  readonly javaScriptEnabled?: boolean;
  /** Language of the browser, such as `it-IT`. */
  readonly locale?: string;
};

export type BrowserOptions = {
  /** A WAV file that the microphone plays in a loop, instead of the beeps. */
  readonly microphone?: string;
  /** Names that lead to this machine, as their owner may decide (DNS rebinding). */
  readonly namesOfThisMachine?: readonly string[];
};

export async function startBrowser({
  microphone,
  namesOfThisMachine = [],
}: BrowserOptions = {}): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      // Tests run as root in containers, where the sandbox does not work.
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
      `--host-resolver-rules=${namesOfThisMachine.map((name) => `MAP ${name} 127.0.0.1`).join(', ')}`,
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
 * Collects errors of the page: uncaught errors, and violations of its content security policy. Chromium also writes each
 * response of 400 and more to its console; the expected ones are left out.
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
