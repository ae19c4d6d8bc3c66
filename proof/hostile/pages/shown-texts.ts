import { join } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import type { Page } from 'playwright-core';
import { openStore } from '../../../src/server/app/create-store.ts';
import { systemClock } from '../../../src/server/platform/clock.ts';
import { createFleet } from '../../../test/server/webhooks/support/instance.ts';
import { type JoinedParticipant, join as joinRoom } from '../../../test/support/parts/participant.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import { silentLog } from '../../../test/support/silent-log.ts';
import { type ExperimentContext, makeFolder } from '../../experiment.ts';
import { exactly, type Figures, observed } from '../../figures.ts';
import { startEmbeddedMedia } from '../../support/embedded-media.ts';
import { mediaServerSettings } from '../../support/signed-client.ts';
import { type Scene, serveBy } from './scene.ts';
import { LISTS, placeTexts, reflect } from './strangers.ts';
import { createWriters, FORMS, type Judgement, type Writer, watchWindow } from './texts.ts';

/** The form that acts in most places. */
const SHORT_FORMS = ['an element'];

/** Puts texts that act wherever a stranger can, and looks at every view that shows them. */
export async function attackByTexts(context: ExperimentContext, scene: Scene): Promise<Figures> {
  const { report, runSize } = context;
  const elsewhere = `http://127.0.0.1:${scene.hostile.port}`;
  const forms = runSize === 'short' ? SHORT_FORMS : Object.keys(FORMS);
  const writers = createWriters(forms, elsewhere);
  const blind = await findBlindForms(scene, writers);
  const window = await scene.browser.openWindow();
  const judgement = await watchWindow(window);
  const { places, views } = await lookAtConsole(context, {
    writers,
    judgement,
    tab: await window.newPage(),
  });
  const said = await lookAtRoom(scene, { writers, judgement, tab: await window.newPage() });
  await lookAtDocs(scene, { writers, judgement, tab: await window.newPage() });
  await window.close();
  const unseen = [...places, ...said].filter((place) => !judgement.shown.has(place));
  const { found, struck, stopped, pages } = judgement;
  for (const line of new Set([...found, ...struck, ...stopped]))
    report(`a text acted: ${line.slice(0, 300)}`);
  report(`views ${views}; places that no page shows: ${unseen.join(', ')}`);
  return [
    observed('texts of strangers', writers.length * (places.size + said.length)),
    observed('pages that were looked at', pages.length),
    exactly('forms of text that the judge overlooks on a page that takes them for HTML', blind, 0),
    observed('places of which a page showed the text', places.size + said.length - unseen.length),
    observed('places of which no page showed it', unseen.length),
    exactly('elements, handlers and addresses that a text became', found.length, 0),
    exactly('scripts and dialogs of a text', struck.length, 0),
    exactly('violations of a policy, and requests that a text caused', stopped.length, 0),
  ];
}

type Looking = { readonly writers: readonly Writer[]; readonly judgement: Judgement; readonly tab: Page };

/** The judge is judged: a page that takes the texts for HTML and for addresses. */
async function findBlindForms({ browser, hostile }: Scene, writers: readonly Writer[]): Promise<number> {
  let blind = 0;
  for (const write of writers) {
    const window = await browser.openWindow();
    const { look, found, struck, stopped } = await watchWindow(window);
    const tab = await window.newPage();
    await tab.goto(`http://127.0.0.1:${hostile.port}/`);
    const text = write('judge');
    const html = `<p>${text}</p><p title="${text}">x</p><p title='${text}'>x</p>`;
    await tab.evaluate(`document.body.innerHTML = ${JSON.stringify(html)}`);
    await tab.evaluate(
      `document.body.append(Object.assign(document.createElement('a'), { href: ${JSON.stringify(text)} }))`,
    );
    await look(tab, 'a page without care');
    if (found.length + struck.length + stopped.length === 0) blind += 1;
    await window.close();
  }
  return blind;
}

async function lookAtConsole(context: ExperimentContext, { writers, judgement, tab }: Looking) {
  const { cleanUp, report } = context;
  const dataDir = await makeFolder(context);
  const port = await freePort();
  const webhookUrls = [`http://127.0.0.1:${port}/livekit/webhook`];
  const { media, at } = await startEmbeddedMedia(context, { recordingDir: dataDir, webhookUrls });
  const environment = {
    ...mediaServerSettings(at(media.url)),
    ...{ DATA_DIR: dataDir, RECORDING_DIR: dataDir, BROADCAST_ALLOWED_NETWORKS: '127.0.0.0/8' },
  };
  const fleet = cleanUp(await createFleet(environment));
  const { url } = await fleet.start({ PORT: `${port}` });
  const database = { sqlitePath: join(dataDir, 'rtc.sqlite') };
  const log = silentLog;
  const store = await openStore({ database, clock: systemClock, log });
  cleanUp(() => store.close());
  const service = { url, ...fleet.keys };
  const { places, views } = await placeTexts(context, { service, media, store }, writers);
  const served = await serveBy(service, cleanUp)(['console', '--print']);
  await tab.goto(served.link);
  await tab.getByText('Live', { exact: true }).waitFor();
  const texts = writers.map((write) => write('address'));
  const addresses =
    context.runSize === 'short' ? texts.flatMap((text) => reflect(text).slice(0, 4)) : texts.flatMap(reflect);
  for (const path of [...LISTS, ...views, ...addresses]) {
    await tab.goto(served.origin + path);
    await tab.locator('h1, h2, [role=alert]').first().waitFor({ state: 'attached' });
    await judgement.look(tab, path);
    await openRows(tab, judgement, path);
  }
  report(`console: ${views.length} views of what has a text`);
  return { places, views: views.length };
}

/** Opens the first row of a list beside it. */
async function openRows(tab: Page, judgement: Judgement, path: string): Promise<void> {
  const button = tab.locator('main table td button').first();
  if (!LISTS.includes(path) || (await button.count()) === 0) return;
  await button.click();
  await judgement.look(tab, `${path}, opened`);
}

/** People with tokens of another program, in a call with the page of a room. */
async function lookAtRoom(scene: Scene, looking: Looking): Promise<readonly string[]> {
  const { livekit } = scene;
  const { writers, judgement, tab } = looking;
  const room = 'texts';
  const link = await joinCall(scene, tab, room);
  const guests: JoinedParticipant[] = [];
  for (const write of writers) {
    const attributes = {
      'rtc.role': write('role'),
      hand: 'raised',
      [write('attribute')]: write('attribute'),
    };
    const person = {
      identity: write('person'),
      name: write('called'),
      metadata: write('metadata'),
      attributes,
    };
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, person);
    token.addGrant({ roomJoin: true, room });
    const guest = await joinRoom(livekit.url, await token.toJwt());
    guests.push(guest);
    const message = JSON.stringify({ id: write('chat'), timestamp: Date.now(), message: write('chat') });
    const packed = new TextEncoder().encode(message);
    await guest.room.localParticipant?.publishData(packed, { reliable: true, topic: 'lk-chat-topic' });
    await say(guest, { topic: 'lk.chat', text: write('chat') });
    const spoken = { 'lk.segment_id': write('segment'), 'lk.language': write('language') };
    await say(guest, { topic: 'lk.transcription', text: write('caption'), attributes: spoken });
    const reaction = new TextEncoder().encode(write('reaction'));
    await guest.room.localParticipant?.publishData(reaction, { reliable: true, topic: 'rtc.reaction' });
    await judgement.look(tab, 'the page of a room: captions');
  }
  await tab.getByRole('button', { name: /^People/ }).click();
  for (const name of ['People', 'Chat']) {
    await tab.getByRole('tab', { name }).click();
    await judgement.look(tab, `the page of a room: ${name}`);
  }
  for (const guest of guests) await guest.leave();
  await lookAtWaiting(scene, looking);
  for (const write of writers) {
    const text = encodeURIComponent(write('address'));
    const fragment = ['room', 'identity', 'name', 'role', 'url', 'token']
      .map((name) => `${name}=${text}`)
      .join('&');
    for (const address of [`#code=${text}`, `#${fragment}`, `?${fragment}#${text}`]) {
      await tab.goto('about:blank');
      await tab.goto(new URL(address, link).href);
      await judgement.look(tab, `the page of a room: ${address}`);
    }
  }
  return ['person', 'called', 'role', 'chat', 'caption', 'waiting'];
}

async function joinCall({ serve }: Scene, tab: Page, room: string): Promise<string> {
  const { link } = await serve(['rooms', 'open', room, '--as', 'ada', '--print']);
  await tab.goto(link);
  await tab.getByRole('button', { name: 'Join', exact: true }).click();
  await tab.getByRole('button', { name: 'Leave' }).waitFor();
  return link;
}

/** The list of who waits to be let in. */
async function lookAtWaiting(scene: Scene, { writers, judgement, tab }: Looking): Promise<void> {
  const room = 'texts-with-a-lobby';
  await scene.client.rooms.create({ name: room, lobby: true });
  await joinCall(scene, tab, room);
  const waiting: JoinedParticipant[] = [];
  for (const write of writers) {
    const asked = {
      roomId: room,
      userId: write('waiting'),
      name: write('waiting'),
      role: 'participant',
    } as const;
    const { token, url } = await scene.client.tokens.create(asked);
    waiting.push(await joinRoom(url, token));
  }
  await tab.getByText(/waits? to be let in/).waitFor();
  await judgement.look(tab, 'the page of a room: somebody waits');
  await tab.getByRole('button', { name: /^People/ }).click();
  await tab.getByRole('tab', { name: /^Waiting/ }).click();
  await judgement.look(tab, 'the page of a room: Waiting');
  for (const guest of waiting) await guest.leave();
}

type Said = {
  readonly topic: string;
  readonly text: string;
  readonly attributes?: Readonly<Record<string, string>>;
};

async function say(guest: JoinedParticipant, { topic, text, attributes = {} }: Said): Promise<void> {
  const stream = await guest.room.localParticipant?.streamText({ topic, attributes: { ...attributes } });
  await stream?.write(text);
  await stream?.close();
}

/** Addresses of the documentation that a page of a stranger can lead to. */
async function lookAtDocs({ service }: Scene, { writers, judgement, tab }: Looking): Promise<void> {
  for (const write of writers) {
    const text = encodeURIComponent(write('address'));
    const paths = ['/docs', '/docs/guide', '/docs/api/createRoom', '/docs/try/createRoom', '/'].map(
      (path) => `${path}?q=${text}&theme=${text}#${text}`,
    );
    for (const path of [
      ...paths,
      `/docs/${text}`,
      `/docs/guide/${text}`,
      `/docs/api/${text}`,
      `/v1/rooms/${text}`,
      `/${text}`,
    ]) {
      await tab.goto(service.url + path);
      await judgement.look(tab, path);
    }
  }
}
