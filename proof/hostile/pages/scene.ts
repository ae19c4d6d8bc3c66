import type { Browser, BrowserContext, Page } from 'playwright-core';
import { RtcClient } from '../../../src/client/client.ts';
import { startRtc } from '../../../test/cli/support/process.ts';
import { createFleet } from '../../../test/server/webhooks/support/instance.ts';
import { startBrowser, type TestBrowser } from '../../../test/support/parts/browser.ts';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { mediaServerSettings } from '../../support/signed-client.ts';
import { type HostileServer, startHostileServer } from './hostile-page.ts';

/** A name that the attacker binds to this machine (DNS rebinding). */
export const EVIL = 'evil.example';

/** A page that a command serves, and the link that it printed. */
type Served = { readonly origin: string; readonly link: string };

export type Scene = {
  readonly browser: TestBrowser;
  readonly version: string;
  /** A window of the operator, in whose first tab the console was opened by its link. */
  readonly window: BrowserContext;
  readonly consoleTab: Page;
  readonly hostile: HostileServer;
  readonly client: RtcClient;
  readonly livekit: Awaited<ReturnType<typeof startLivekit>>;
  readonly service: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  readonly console: Served;
  readonly room: Served;
  /** Serves a page by a command until the experiment ends. */
  readonly serve: (words: readonly string[]) => Promise<Served>;
};

export async function startScene({ cleanUp }: ExperimentContext): Promise<Scene> {
  const port = await freePort();
  const livekit = cleanUp(await startLivekit({ webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` }));
  const fleet = cleanUp(await createFleet(mediaServerSettings(livekit)));
  const { url } = await fleet.start({ PORT: `${port}` });
  const service = { url, ...fleet.keys };
  const client = new RtcClient(service);
  cleanUp(() => client.close());
  await client.rooms.create({ name: 'kept' });
  const hostile = cleanUp(await startHostileServer());
  const browser = cleanUp(await startBrowser({ namesOfThisMachine: [EVIL] }));
  const serve = serveBy(service, cleanUp);
  const console = await serve(['console', '--print']);
  const room = await serve(['rooms', 'open', 'kept', '--as', 'ada', '--print']);
  const window = await browser.openWindow();
  const consoleTab = await window.newPage();
  await consoleTab.goto(console.link);
  await consoleTab.getByText('Live', { exact: true }).waitFor();
  // A view that asks the service for nothing by itself.
  await consoleTab.goto(`${console.origin}/fiscal`);
  await consoleTab.getByText('Live', { exact: true }).waitFor();
  const version = (window.browser() as Browser).version();
  return { browser, version, window, consoleTab, hostile, client, livekit, service, console, room, serve };
}

export function serveBy(
  { url, apiKey, apiSecret }: Scene['service'],
  cleanUp: ExperimentContext['cleanUp'],
): Scene['serve'] {
  return async (words) => {
    const env = { USER: 'ada', RTC_URL: url, RTC_API_KEY: apiKey, RTC_API_SECRET: apiSecret };
    const started = startRtc(words, { env });
    cleanUp(async () => {
      started.child.kill('SIGINT');
      await started.ended;
    });
    await started.seen(/#code=[\w-]+\s/);
    const link = /https?:\/\/\S+#code=[\w-]+/.exec(started.output())?.[0] ?? '';
    return { link, origin: new URL(link).origin };
  };
}
