import type { WireRequest } from '../../../client/client-options.ts';
import { DEV_ADD_ONS, type DevAddOn, ROLES } from '../../../contract/choices.ts';
import type { DevReady } from '../../../contract/launcher.ts';
import { shellQuote } from '../../../contract/shell-quote.ts';
import { parseJson, readMembers } from '../../../contract/unknown-value.ts';
import { openClient } from '../../connection/connect.ts';
import { CliError, EXIT, usageError } from '../../errors/cli-error.ts';
import { describeError } from '../../errors/describe-error.ts';
import { startError } from '../../errors/start-error.ts';
import type { Context } from '../../framework/context.ts';
import { argument, choice, defineCommand, ofNoun, option } from '../../framework/parameters.ts';
import { done, nothing } from '../../terminal/result.ts';
import { createStatusLine } from '../../terminal/status-line.ts';
import { printStatus, printWarning } from '../../terminal/terminal.ts';
import { serveConsole } from '../console/serve-console.ts';
import { findParticipant } from '../participants/find-participant.ts';
import { type ServedPage, servePage } from '../rooms/page/page-server.ts';
import { HOST, NEW_KEY, PORT } from '../serve.ts';
import { announceDev, type KeptProfile, keepProfile, READY_FIELDS } from './announce.ts';

const MEDIA = ['livekit', 'embedded'] as const;

const ROOM = argument('name of the room', { completes: 'rooms' });

const IDENTITY = argument('identity of the participant');

const ROLE = option('--role <role>', 'what it may do; default participant', choice(ROLES));

const join = defineCommand({
  verb: 'join',
  summary: 'Let a test participant join a room',
  description:
    'On the embedded media server the participant is simulated: it is listed, muted and removed like a real one, but publishes no media, and stays when the command has ended. On a real LiveKit the participant is real, publishes a tone or a moving picture, and stays until Ctrl-C: see rtc rooms join.',
  arguments: { room: ROOM, identity: IDENTITY },
  options: {
    role: ROLE,
    name: option('--name <name>', 'name that others see; default the identity'),
    publish: option('--publish <kind>', 'also publish a track', choice(['audio', 'video'])),
  },
  examples: [
    { line: 'rtc dev join demo ada', does: 'A participant without tracks' },
    { line: 'rtc dev join demo bob --publish audio', does: 'A participant with a microphone' },
  ],
  async run(context, { room, identity, role, name, publish }) {
    const control = await openControl(context, {
      room,
      identity,
      role: role ?? 'participant',
      name: name ?? identity,
    });
    const response = await control('join', undefined);
    if (response === 'not-embedded') {
      const { joinAndStay } = await import('../rooms/join-and-stay.ts');
      const exitCode = await joinAndStay(context, {
        person: { room, identity, name: name ?? identity, role: role ?? 'participant' },
        publish: publish === undefined ? undefined : { parts: [publish] },
        listen: undefined,
        isLooped: false,
        raw: { sampleRate: 48_000, channels: 1 },
      });
      return nothing({ exitCode });
    }
    if (publish !== undefined) await control('publish', { ...TRACKS[publish], name: publish });
    if (context.flags.isCurl) return nothing();
    return done(`${identity} is in ${room}.`, { notes: [`See: rtc participants list ${shellQuote(room)}`] });
  },
});

const TRACKS = {
  audio: { type: 'AUDIO', source: 'MICROPHONE' },
  video: { type: 'VIDEO', source: 'CAMERA' },
} as const;

const TIMEOUT_MS = 10_000;

const dev = defineCommand({
  summary: 'Start everything for development',
  description:
    'Starts a media server and the service, keeps their keys in the data directory and in the profile dev, and prints what to try. With a real LiveKit it also starts the speech workers (stt-live, stt-post) if a model is installed, and a recorder if it finds one. Ctrl-C stops everything.',
  needs: 'nothing',
  fields: READY_FIELDS,
  options: {
    media: option('--media <kind>', 'media server: a real LiveKit, or the embedded stand-in', choice(MEDIA)),
    with: option(
      '--with <add-ons>',
      `add-ons that must run, or the command fails: ${DEV_ADD_ONS.join(',')}`,
      addOnNames,
    ),
    without: option('--without <add-ons>', 'add-ons that are not started', addOnNames),
    newKey: NEW_KEY,
    host: HOST,
    port: PORT,
  },
  examples: [
    { line: 'rtc dev', does: 'With a real LiveKit, if there is one' },
    { line: 'rtc dev --media embedded', does: 'With the stand-in, which carries no media' },
    { line: 'rtc dev --with stt-live,stt-post', does: 'Fail if speech to text cannot run' },
    { line: 'rtc dev --without stt-post,recorder', does: 'Without two of the add-ons' },
  ],
  async run(context, { media, newKey, host, port, with: required = [], without = [] }) {
    requireNoneTwice(required, without);
    const { signal, loaders } = context.io;
    const statusLine = createStatusLine(context.io);
    const pages: (ServedPage | undefined)[] = [];
    try {
      const { dev: run } = await loaders.dev();
      await run({
        media,
        with: required,
        without,
        newKey,
        host,
        port,
        signal,
        progress: (line) => {
          statusLine.clear();
          printStatus(context.terminal, line);
        },
        status: statusLine.show,
        announce: async (ready) => {
          statusLine.clear();
          const kept = await keepProfile(context, ready);
          const [room, console] = await Promise.all([
            serveFirstRoom(context, ready),
            serveDevConsole(context, ready, kept),
          ]);
          pages.push(room, console);
          await announceDev(context, ready, { ...kept, roomLink: room?.link, consoleLink: console?.link });
        },
      });
    } catch (error) {
      throw startError(error, { exitCode: EXIT.failure, signal });
    } finally {
      statusLine.clear();
      for (const page of pages) await page?.close();
    }
    return nothing();
  },
});

function addOnNames(text: string): readonly DevAddOn[] {
  const { parse } = choice(DEV_ADD_ONS);
  return [...new Set(text.split(',').map((name) => parse(name.trim())))];
}

function requireNoneTwice(required: readonly DevAddOn[], unwanted: readonly DevAddOn[]): void {
  const twice = required.find((name) => unwanted.includes(name));
  if (twice !== undefined) throw usageError(`${twice} is in both --with and --without`);
}

const leave = defineCommand({
  verb: 'leave',
  summary: 'Let a test participant leave a room',
  description: 'A simulated one leaves; on a real LiveKit the participant is removed.',
  arguments: { room: ROOM, identity: IDENTITY },
  examples: [{ line: 'rtc dev leave demo ada', does: 'As if the browser had been closed' }],
  async run(context, { room, identity }) {
    await findParticipant(context, room, identity);
    const control = await openControl(context, { room, identity, role: 'viewer', name: identity });
    const response = await control('leave', undefined);
    if (response === 'not-embedded') {
      const client = await context.client();
      await client.participants.remove(room, identity, { signal: context.io.signal });
    }
    if (context.flags.isCurl) return nothing();
    return done(`${identity} has left ${room}.`);
  },
});

export const commands = ofNoun('dev', [dev, join, leave]);

type Simulated = {
  readonly room: string;
  readonly identity: string;
  readonly name: string;
  readonly role: (typeof ROLES)[number];
};

/**
 * Opens the embedded media server's own control API, as the holder of a token of ours: POST <media>/embedded/<action> with
 * the token as bearer.
 */
async function openControl(
  context: Context,
  { room, identity, name, role }: Simulated,
): Promise<(action: string, body: object | undefined) => Promise<'done' | 'not-embedded'>> {
  // The printed request is that to the media server, so the token is requested with --curl too.
  const client = await context.readOnlyClient();
  const { signal } = context.io;
  const { token, url } = await client.tokens.create(
    { roomId: room, userId: identity, name, role },
    { signal },
  );
  const { printCurl } = await import('../../connection/request-trace.ts');
  return async (action, body) => {
    const request = controlRequest({ url, token, action, body });
    if (context.flags.isCurl) {
      printCurl(context.terminal, request);
      return 'done';
    }
    const { status, error } = await sendControl(request, signal);
    if (status === 200) return 'done';
    if (error === undefined) return 'not-embedded';
    throw new CliError(
      status === 409 ? EXIT.conflict : EXIT.failure,
      `the media server refused the request: ${error}`,
      `list the participants: rtc participants list ${shellQuote(room)}`,
    );
  };
}

/**
 * Serves the page of a room named demo. Returns undefined when nobody can join. A page that cannot be served does not stop
 * the service.
 */
export async function serveFirstRoom(context: Context, ready: DevReady): Promise<ServedPage | undefined> {
  if (ready.media.kind === 'embedded') return undefined;
  return await orWarn(context, 'the page of a first room', async () =>
    servePage(context.io, { client: await openClient(context, ready), room: 'demo' }),
  );
}

/** Serves the console of the service that has just started. */
export async function serveDevConsole(
  context: Context,
  ready: DevReady,
  { profile, option }: KeptProfile,
): Promise<ServedPage | undefined> {
  return await orWarn(context, 'the console', async () =>
    serveConsole(context, {
      client: await openClient(context, ready),
      credentials: ready,
      info: { profile, url: ready.url, isProtected: false, isReadOnly: false, commandOptions: option },
      checkSettings: async () => [],
      port: 0,
    }),
  );
}

async function orWarn(
  { io, terminal }: Context,
  what: string,
  serve: () => Promise<ServedPage>,
): Promise<ServedPage | undefined> {
  try {
    return await serve();
  } catch (error) {
    printWarning(terminal, `${what} is not served: ${describeError(error, io.clock()).cause}`);
    return undefined;
  }
}

export type ControlCall = {
  /** WebSocket address of the media server, as in tokens. */
  readonly url: string;
  readonly token: string;
  readonly action: string;
  readonly body: object | undefined;
};

/** POST /embedded/<action> */
export function controlRequest({ url, token, action, body }: ControlCall): WireRequest {
  return {
    method: 'POST',
    origin: new URL(url.replace(/^ws/, 'http')).origin,
    path: `/embedded/${action}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** `error` is the embedded server's own message, absent for the response of another program. */
export async function sendControl(
  request: WireRequest,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly error: string | undefined }> {
  const { Agent } = await import('undici');
  const agent = new Agent();
  try {
    const response = await agent.request({
      origin: request.origin,
      path: request.path,
      method: 'POST',
      headers: request.headers,
      body: request.body ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: response.statusCode, error: readError(await response.body.text()) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(EXIT.unavailable, `${request.origin} cannot be reached: ${reason}`, {
      next: 'start it: rtc dev --media embedded',
      cause,
    });
  } finally {
    await agent.destroy();
  }
}

function readError(text: string): string | undefined {
  // A real LiveKit answers "404 page not found".
  const { error } = readMembers(parseJson(text));
  return typeof error === 'string' ? error : undefined;
}
