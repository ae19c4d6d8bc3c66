import { RtcClient } from '../../../src/client/client.ts';
import { chooseServicePort, startHookedService } from '../../server/webhooks/support/hooked-service.ts';
import { startBrowser, type TestBrowser } from '../../support/parts/browser.ts';
import { type Livekit, type LivekitOptions, startLivekit } from '../../support/parts/livekit.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import type { TestService } from '../../support/service.ts';
import { type OpenedConsole, openConsole } from './console.ts';

/** A service with a real media server that sends its webhooks, a browser, and the console of the service. */
export type Stage = {
  readonly livekit: Livekit;
  readonly service: TestService;
  readonly client: RtcClient;
  readonly browser: TestBrowser;
  readonly console: OpenedConsole;
  /** Lets a participant join a room, which opens the room. */
  readonly enter: (room: string, identity: string) => Promise<JoinedParticipant>;
  /** Stops the service. It can be started again at the same address with another database. */
  readonly stopService: () => Promise<void>;
  readonly startService: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const OUR_KEY = { API_KEY: 'key-of-the-tests', API_SECRET: 'secret-of-the-tests-0123456789' };

export type StageOptions = {
  /** Settings of the service. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Options of the media server. */
  readonly media?: LivekitOptions;
};

export async function startStage({ environment, media }: StageOptions = {}): Promise<Stage> {
  const { port, webhookUrl } = await chooseServicePort();
  const livekit: Livekit = await startLivekit({ webhookUrl, ...media });
  const start = () => startHookedService(port, { livekit, environment: { ...OUR_KEY, ...environment } });
  const running = { service: await start() };
  const client = new RtcClient(running.service);
  const browser = await startBrowser();
  const console = await openConsole(running.service);
  const guests: JoinedParticipant[] = [];
  return {
    livekit,
    get service() {
      return running.service;
    },
    client,
    browser,
    console,
    enter: async (room, identity) => {
      const person = { roomId: room, userId: identity, name: identity, role: 'participant' } as const;
      const { token, url } = await client.tokens.create(person);
      const guest = await join(url, token);
      guests.push(guest);
      return guest;
    },
    stopService: () => running.service.stop(),
    startService: async () => {
      running.service = await start();
    },
    close: async () => {
      for (const guest of guests) await guest.leave();
      await browser.close();
      await console.close();
      await client.close();
      await running.service.close();
      await livekit.close();
    },
  };
}
