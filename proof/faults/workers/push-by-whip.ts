import { join } from 'node:path';
import type { Push } from '../../../test/ingress-rtmp/keep-pushing.ts';
import type { TestBrowser } from '../../../test/support/parts/browser.ts';

export type WhipEndpoint = { readonly url: string; readonly streamKey: string };

const SCRIPT = join(import.meta.dirname, 'push-in-page.js');

/**
 * Pushes the camera and the microphone of a browser by WHIP until it is closed. It begins again when the connection breaks off
 * or the ingress service does not accept it.
 */
export async function keepPushingByWhip(browser: TestBrowser, endpoint: WhipEndpoint): Promise<Push> {
  const window = await browser.openWindow();
  const page = await window.newPage();
  const lines: string[] = [];
  page.on('console', (message) => lines.push(message.text()));
  // A page of the ingress service itself may use the camera, and send requests to that address.
  await page.goto(new URL('/', endpoint.url).href);
  await page.addScriptTag({ path: SCRIPT });
  const pushing = page.evaluate(`pushByWhip(${JSON.stringify(endpoint)})`);
  pushing.catch((error: unknown) => lines.push(String(error)));
  return {
    output: () => lines.join('\n'),
    close: async () => {
      if (page.isClosed()) return;
      await page.evaluate('endPush()');
      await pushing;
      await window.close();
    },
  };
}
