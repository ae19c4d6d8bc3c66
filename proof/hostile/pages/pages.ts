import { randomBytes } from 'node:crypto';
import { livekitServerVersion } from '../../../src/server/dev/binaries/go-binary.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { atLeast, exactly, type Figures, observed } from '../../figures.ts';
import { type HostileRequest, openOther, sendLocally, tryAll } from './hostile-page.ts';
import { EVIL, type Scene, startScene } from './scene.ts';
import { attackByTexts } from './shown-texts.ts';

export const pages: Experiment = { name: 'pages', run: attackPages };

async function attackPages(context: ExperimentContext): Promise<Findings> {
  const scene = await startScene(context);
  const figures = [
    ...(await crossOrigins(context, scene)),
    ...(await takeFromOtherPorts(context, scene)),
    ...(await openAndFrame(context, scene)),
    ...(await attackByTexts(context, scene)),
  ];
  return { figures, versions: { LiveKit: livekitServerVersion, Chromium: scene.version } };
}

/** What a hostile page asks for, at each of the three servers. */
function listRequests({ console, room, service }: Scene, mark: string): readonly HostileRequest[] {
  const made = JSON.stringify({ name: mark });
  const at = (origin: string, requests: readonly (readonly [string, string, string?])[]) =>
    requests.map(([method, path, body]) => ({
      method,
      url: origin + path,
      ...(body === undefined ? {} : { body }),
    }));
  return [
    ...at(console.origin, [
      ['GET', '/api/v1/rooms'],
      ['GET', '/console/info'],
      ['GET', '/console/sessions.csv'],
      ['POST', '/api/v1/rooms', made],
      ['DELETE', '/api/v1/rooms/kept'],
      ['POST', '/console/rooms/open', JSON.stringify({ room: mark })],
      ['POST', '/console/session', JSON.stringify({ code: mark })],
      ['POST', '/console/probe', '{}'],
    ]),
    ...at(room.origin, [
      ['POST', '/api/join', JSON.stringify({ code: mark })],
      ['POST', '/api/invite', JSON.stringify({ role: 'host' })],
      ['POST', '/api/remove', JSON.stringify({ identity: 'ada' })],
    ]),
    ...at(service.url, [
      ['GET', '/v1/rooms'],
      ['POST', '/v1/rooms', made],
      ['DELETE', '/v1/rooms/kept'],
      ['POST', '/livekit/webhook', '{}'],
    ]),
  ];
}

/** A hostile page of each origin sends every request in every way, also as a name that is bound to this machine. */
async function crossOrigins({ report, runSize }: ExperimentContext, scene: Scene): Promise<Figures> {
  const { window, hostile, client, consoleTab, console, room, service } = scene;
  const own = await consoleTab.evaluate<number>(
    `fetch('/api/v1/rooms', { headers: { authorization: 'Bearer ' + localStorage.getItem('rtc-console-token') } }).then((r) => r.status)`,
  );
  const before = (await client.audit.list({ limit: 1 })).entries[0]?.requestId;
  const origins = [
    `http://${EVIL}:${hostile.port}`,
    `http://127.0.0.1:${hostile.port}`,
    `http://localhost:${hostile.port}`,
    ...[console.origin, room.origin, service.url].map((each) => `http://${EVIL}:${new URL(each).port}`),
  ];
  const outcomes = { sent: 0, read: [] as string[] };
  const add = (origin: string, { sent, read }: Awaited<ReturnType<typeof tryAll>>): void => {
    outcomes.sent += sent;
    outcomes.read.push(...read.map((what) => `${origin}: ${what}`));
  };
  const mark = `made-${randomBytes(4).toString('hex')}`;
  for (const origin of runSize === 'short' ? origins.slice(0, 2) : origins) {
    const tab = await window.newPage();
    await tab.goto(`${origin}/docs`);
    const port = new URL(origin).port;
    const requests = listRequests(scene, mark).map((request) =>
      // A bound name is of the same origin as what it is bound to.
      new URL(request.url).port === port
        ? { ...request, url: request.url.replace('127.0.0.1', EVIL) }
        : request,
    );
    add(origin, await tryAll(tab, requests));
    await tab.close();
  }
  const tab = await window.newPage();
  await tab.goto(`http://${EVIL}:${hostile.port}/`);
  await tab.setContent('<iframe sandbox="allow-scripts allow-forms" srcdoc="<body>"></iframe>');
  const opaque = tab.frames().at(-1);
  if (opaque !== undefined) add('null', await tryAll(opaque, listRequests(scene, mark)));
  await tab.close();
  for (const line of outcomes.read) report(`read: ${line}`);
  const { entries } = await client.audit.list({ limit: 50 });
  const others = entries.slice(
    0,
    entries.findIndex(({ requestId }) => requestId === before),
  );
  for (const entry of others) report(`logged: ${JSON.stringify(entry).slice(0, 200)}`);
  const rooms = (await client.rooms.list()).rooms.map(({ name }) => name);
  return [
    exactly('status of the same request by the console itself', own, 200),
    observed('requests of hostile pages', outcomes.sent),
    exactly('responses that a hostile page could read', outcomes.read.length, 0),
    exactly('requests of hostile pages that the log of the service has', others.length, 0),
    exactly('rooms that hostile pages made or closed', rooms.join() === 'kept' ? 0 : 1, 0),
  ];
}

/** Another program serves a page at another port of the same host, and uses whatever the browser gives it. */
async function takeFromOtherPorts({ report }: ExperimentContext, scene: Scene): Promise<Figures> {
  const { window, consoleTab, hostile, console, room } = scene;
  const roomTab = await window.newPage();
  await roomTab.goto(room.link);
  const join = roomTab.getByRole('button', { name: 'Join', exact: true });
  await join.waitFor();
  const isGone = !roomTab.url().includes('code=');
  await roomTab.reload();
  await join.waitFor();
  const secrets = [
    ...[console.link, room.link].map((link) => new URL(link).hash.slice('#code='.length)),
    ...[consoleTab, roomTab].map(
      async (tab) => await tab.evaluate<string>('JSON.stringify({ ...localStorage })'),
    ),
    new URLSearchParams(new URL(roomTab.url()).hash.slice(1)).get('token') ?? '',
  ];
  const kept = (await Promise.all(secrets)).flatMap(
    (text) => text.match(/[\w-]{16,}(?:\.[\w-]{16,})*/g) ?? [],
  );
  const loot = new Set<string>();
  for (const host of ['127.0.0.1', 'localhost', EVIL]) {
    const tab = await window.newPage();
    await tab.goto(`http://${host}:${hostile.port}/`);
    const read = await tab.evaluate<readonly string[]>(
      `[document.cookie, document.referrer, ...Object.values(localStorage), ...Object.values(sessionStorage), name]`,
    );
    for (const value of read.flatMap((text) => [text, ...text.split(/;\s*|=/)]))
      if (value !== '') loot.add(value);
    await tab.close();
  }
  // A link, a form and a script of the page lead to the other program.
  for (const tab of [consoleTab, roomTab]) {
    const copy = await window.newPage();
    await copy.goto(tab.url());
    await copy.evaluate(`location.assign('http://127.0.0.1:${hostile.port}/led')`);
    await copy.waitForURL('**/led');
    await copy.close();
  }
  for (const value of hostile.loot()) loot.add(value);
  const sent = hostile.seen.join('\n');
  const leaked = kept.filter(
    (secret) => sent.includes(secret) || [...loot].some((text) => text.includes(secret)),
  );
  const accepted: string[] = [];
  for (const value of ['', ...loot]) {
    const credentials = [
      { authorization: `Bearer ${value}` },
      { authorization: value },
      { cookie: value },
      { cookie: `rtc-console-${new URL(console.origin).port}=${value}` },
      { 'x-rtc-console': value },
    ];
    const { host } = new URL(console.origin);
    const perfect = {
      host,
      origin: console.origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    };
    for (const each of credentials)
      for (const path of [
        '/console/info',
        '/api/v1/rooms',
        `/api/v1/rooms?ticket=${encodeURIComponent(value)}`,
      ]) {
        const { status } = await sendLocally(console.origin + path, { headers: { ...perfect, ...each } });
        if (status < 400) accepted.push(`${path} with ${Object.keys(each)}: ${status}`);
      }
  }
  for (const line of accepted) report(`accepted: ${line}`);
  await roomTab.close();
  return [
    atLeast({ name: 'secrets that the pages have', measured: kept.length, bound: 3 }),
    exactly('secrets in what another port received or read', leaked.length, 0),
    exactly('accepted requests of another program with what it received', accepted.length, 0),
    exactly('links whose code stays in the address of the page', isGone ? 0 : 1, 0),
  ];
}

/** A hostile page opens each page in a tab, and puts it into frames. */
async function openAndFrame({ report, runSize }: ExperimentContext, scene: Scene): Promise<Figures> {
  const { window, hostile, console, room, service } = scene;
  const all = [
    ...[`${console.origin}/rooms`, `${room.origin}/`, `${service.url}/docs/try/createRoom`],
    ...['/', '/api/v1/rooms', '/nowhere/at/all'].map((path) => console.origin + path),
    `${room.origin}/nowhere`,
    ...['/docs', '/docs/guide', '/docs/api/createRoom'].map((path) => service.url + path),
  ];
  const targets = runSize === 'short' ? all.slice(0, 3) : all;
  const read: string[] = [];
  const held: string[] = [];
  const framed: string[] = [];
  let struck = 0;
  for (const origin of [`http://${EVIL}:${hostile.port}`, `http://127.0.0.1:${hostile.port}`]) {
    const tab = await window.newPage();
    await tab.exposeBinding('struck', () => {
      struck += 1;
    });
    await tab.goto(`${origin}/`);
    for (const target of targets) {
      read.push(...(await openOther(tab, target)).map((what) => `${target}: ${what}`));
      for (const other of window.pages().filter((page) => page.url() === target))
        if (await other.evaluate<boolean>('window.opener !== null')) held.push(target);
    }
    for (const element of ['iframe', 'object', 'embed']) {
      const attribute = element === 'object' ? 'data' : 'src';
      const html = targets.map((url) => `<${element} ${attribute}="${url}"></${element}>`).join('');
      await tab.setContent(html, { waitUntil: 'load' });
      for (const frame of tab.frames()) {
        if (!targets.includes(frame.url())) continue;
        if ((await frame.evaluate<number>('document.body.childNodes.length')) > 0) framed.push(frame.url());
      }
    }
    for (const page of window.pages()) if (page !== scene.consoleTab) await page.close();
  }
  for (const line of [...read, ...held, ...framed]) report(`a hostile page has: ${line}`);
  return [
    observed('pages that a hostile page opened and framed', 2 * targets.length),
    exactly('pages of which a hostile page could read something', read.length, 0),
    exactly('pages that know who opened them', held.length, 0),
    exactly('pages in which a hostile page ran a script', struck, 0),
    exactly('pages that a frame showed', framed.length, 0),
  ];
}
