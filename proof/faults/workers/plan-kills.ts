import type { EmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { type ExperimentContext, type Findings, makeFolder } from '../../experiment.ts';
import { atMost, type Figures, none, observed } from '../../figures.ts';
import { type EngineSettings, locateDatabase, onBothEngines } from '../../support/both-engines.ts';
import { startEmbeddedMedia } from '../../support/embedded-media.ts';
import { type AfterKill, type KillState, killInEveryState } from '../../support/faults.ts';
import { openFiller } from '../../support/fill.ts';
import {
  type PassedAnswer,
  type PassedRequest,
  passInTurn,
  passTo,
  startPassingServer,
} from '../../support/passing-server.ts';
import { pollEvery } from '../../support/poll.ts';
import { createSignedClient, mediaServerSettings, type SignedClient } from '../../support/signed-client.ts';

/** Times that the instance is killed in each state. */
const ROUNDS = { long: 3, short: 1 } as const;

/** From when everything has started until the planned end. */
const ENDS_AFTER_MS = 4_000;
const WARNING_SECONDS = 3;

/** What an instance has claimed another one takes after a second; a new process on SQLite has to start before. */
const BOUND_SECONDS = 30;

/**
 * The media server tells a new process of the recorder after 1, 2, 4 or 8 s. Without a recorder, another start waits for the end
 * of a dead instance's claim, which lasts a minute.
 */
const STARTED_SECONDS = { unasked: 90, others: 20 } as const;
const DEADLINE_MS = 180_000;
const poll = pollEvery({ everyMs: 50, withinMs: DEADLINE_MS });

type PlanState = KillState & {
  /** The call to the media server at which the instance that makes it is killed. */
  readonly call: string;
  /** Whether the media server still gets the call. Its answer is lost either way. */
  readonly passes: boolean;
  readonly during: 'start' | 'end';
};

const RECORD = { call: 'StartRoomCompositeEgress', during: 'start' } as const;
const WARN = { call: 'SendData', during: 'end' } as const;
const CLOSE = { call: 'DeleteRoom', during: 'end' } as const;

const STATES: readonly PlanState[] = [
  { name: 'before the recorder is asked for', slug: 'unasked', ...RECORD, passes: false },
  { name: 'after the recorder has begun', slug: 'begun', ...RECORD, passes: true },
  { name: 'before everyone is warned', slug: 'unwarned', ...WARN, passes: false },
  { name: 'after everyone was warned', slug: 'warned', ...WARN, passes: true },
  { name: 'before the room is closed', slug: 'unclosed', ...CLOSE, passes: false },
  { name: 'after the room was closed', slug: 'closed', ...CLOSE, passes: true },
];
const STATES_OF_SHORT = ['warned', 'closed'];

export const [planKillsSqlite, planKillsPostgres] = onBothEngines('plan-kills', killPlanned);

async function killPlanned(context: ExperimentContext, settings: EngineSettings): Promise<Findings> {
  const stage = await startStage(context, settings);
  const figures = await killInEveryState(context, {
    states: STATES,
    ofShort: STATES_OF_SHORT,
    kill: async (state) => {
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS[context.runSize]; round += 1)
        rounds.push(await runRound(stage, state, `${state.slug}-${round}`));
      return toOutcome(rounds, state);
    },
  });
  return { figures };
}

type Round = {
  /** How often each event of the room was stored. */
  readonly events: ReadonlyMap<string, number>;
  /** Those that ran when everything had started. */
  readonly recordings: number;
  /** Milliseconds until the recording ran, from the death of the instance that started it, or from the first join. */
  readonly startMs: number;
  readonly warnings: number;
  readonly closeReason: string | undefined;
  /** Milliseconds from the planned end until the media server had closed the room. */
  readonly lateMs: number;
};

function toOutcome(rounds: readonly Round[], { slug }: PlanState): AfterKill {
  const last = (time: 'startMs' | 'lateMs'): number => Math.max(...rounds.map((round) => round[time])) / 1000;
  const startBound = slug === 'unasked' ? STARTED_SECONDS.unasked : STARTED_SECONDS.others;
  const figures: Figures = [
    observed('rooms', rounds.length),
    none(
      'rooms that are not recorded exactly once when everything has started',
      rounds,
      ({ recordings }) => recordings !== 1,
    ),
    none('rooms with a start that is told as failed', rounds, ({ events }) =>
      events.has('planned_start_failed'),
    ),
    none('rooms in which nobody was warned', rounds, ({ warnings }) => warnings === 0),
    none(
      'rooms without exactly one warning and one end',
      rounds,
      ({ events }) => events.get('room_closing') !== 2,
    ),
    none(
      'rooms without exactly one room_finished that tells why',
      rounds,
      ({ events, closeReason }) => events.get('room_finished') !== 1 || closeReason !== 'closes_at',
    ),
    none('rooms that were closed before their end', rounds, ({ lateMs }) => lateMs < 0),
    atMost({
      name: 'the last recording ran after',
      measured: last('startMs'),
      bound: startBound,
      unit: ' s',
    }),
    atMost({
      name: 'the last room was closed after',
      measured: last('lateMs'),
      bound: BOUND_SECONDS,
      unit: ' s',
    }),
  ];
  const times = rounds.map(({ startMs, lateMs }) => `${startMs} and ${lateMs}`);
  return { figures, lines: [`recorded and closed after ${times.join(', ')} ms`] };
}

/** Runs a planned room from its first join to its end, and kills an instance meanwhile. */
async function runRound(stage: Stage, state: PlanState, room: string): Promise<Round> {
  const { media, gate } = stage;
  const plan = { name: room, record: {}, transcribe: { language: 'en' } };
  await stage.open(plan);
  gate.killAt(state, room);
  const findVictim = () => poll(async () => gate.killed(room));
  let from = Date.now();
  media.control.join(room, { identity: 'ada' });
  media.control.publish(room, 'ada');
  if (state.during === 'start') {
    const victim = await findVictim();
    from = Date.now();
    await stage.replace(victim);
  }
  await poll(async () => (await stage.listRunning(room)).length > 0);
  const startMs = Date.now() - from;
  await poll(() => stage.isTranscribed(room));
  const recordings = (await stage.listRunning(room)).length;
  const end = Date.now() + ENDS_AFTER_MS;
  await stage.open({ ...plan, closesAt: new Date(end).toISOString(), closingWarnings: [WARNING_SECONDS] });
  if (state.during === 'end') await stage.replace(await findVictim());
  const closedAt = await poll(async () => gate.closedAt(room));
  await poll(async () => (await stage.listEvents(room)).some(({ event }) => event === 'room_finished'));
  await media.control.webhooksSettled();
  const stored = await stage.listEvents(room);
  return {
    events: new Map(
      [...Map.groupBy(stored, ({ event }) => event)].map(([event, all]) => [event, all.length]),
    ),
    recordings,
    startMs,
    warnings: gate.countWarnings(room),
    closeReason: stored.find(({ event }) => event === 'room_finished')?.closeReason,
    lateMs: closedAt - end,
  };
}

type Stage = Awaited<ReturnType<typeof startStage>>;

type StoredEvent = { readonly event: string; readonly closeReason?: string };

/** Instances, each with a gate of its own to the media server. On SQLite there is one, because it has the file. */
async function startStage(context: ExperimentContext, settings: EngineSettings) {
  const { cleanUp } = context;
  const instances: FleetInstance[] = [];
  const balancer = await startPassingServer(context, passInTurn(instances));
  const recordingDir = await makeFolder(context);
  const webhookUrls = [`${balancer}/livekit/webhook`];
  const { media, at } = await startEmbeddedMedia(context, { recordingDir, webhookUrls });
  const fleet = cleanUp(await createFleet({ ...settings, RECORDING_DIR: recordingDir }));
  const gate = createGate(media);
  const startOne = async (): Promise<FleetInstance> => {
    let instance: FleetInstance | undefined;
    const url = await startPassingServer(context, (request) => gate.pass(request, () => instance));
    instance = await fleet.start(mediaServerSettings(at(url)));
    return instance;
  };
  await offerSpeech(fleet, settings, startOne);
  const count = settings.DATABASE_URL === undefined ? 1 : 2;
  const clients = new Map<FleetInstance, SignedClient>();
  const add = async (): Promise<void> => {
    const instance = await startOne();
    clients.set(instance, cleanUp(createSignedClient(instance.url, fleet.keys, 4)));
    instances.push(instance);
  };
  while (instances.length < count) await add();
  const call: SignedClient['call'] = async (...request) => {
    const [first] = instances;
    const client = first && clients.get(first);
    if (client === undefined) throw new Error('no instance lives');
    return await client.call(...request);
  };
  const list = async <Item>(path: string, of: string): Promise<readonly Item[]> => {
    const { json, status, text } = await call('GET', path);
    if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    const items = json[of];
    return Array.isArray(items) ? items : [];
  };
  return {
    ...{ media, gate },
    /** Opens a room by its plan, or changes the plan of one that is open. */
    open: async (plan: object): Promise<void> => {
      const { status, text } = await call('POST', '/v1/rooms', plan);
      if (status !== 200 && status !== 201) throw new Error(`opening a room: ${status} ${text}`);
    },
    listEvents: (room: string) => list<StoredEvent>(`/v1/events?roomId=${room}&limit=500`, 'events'),
    listRunning: (room: string) => list(`/v1/recordings?roomId=${room}&status=recording`, 'recordings'),
    isTranscribed: async (room: string): Promise<boolean> =>
      (await call('GET', `/v1/rooms/${room}/transcription`)).json.status === 'active',
    /** Starts another instance in the place of one that was killed. */
    replace: async (victim: FleetInstance): Promise<void> => {
      const index = instances.indexOf(victim);
      if (index >= 0) instances.splice(index, 1);
      await add();
    },
  };
}

/** Stores a live speech worker that stays alive, so that transcriptions can start. Nobody transcribes. */
async function offerSpeech(
  fleet: Fleet,
  settings: EngineSettings,
  startOne: () => Promise<FleetInstance>,
): Promise<void> {
  // It makes the tables, and has ended before they are written to.
  await (await startOne()).stop();
  const filler = await openFiller(locateDatabase(fleet, settings));
  const columns = '"id", "kind", "languages", "failedModels", "aliveUntil"';
  const aliveUntil = Date.now() + 86_400_000;
  await filler.run(
    `insert into "speechWorkers" (${columns}) values ('worker', 'stt-live', '["en"]', '[]', ${aliveUntil})`,
  );
  await filler.close();
}

type Armed = {
  readonly state: PlanState;
  readonly room: string;
};

/** Passes calls on to the media server, and kills the instance that makes the awaited one. */
function createGate(media: EmbeddedMediaServer) {
  let armed: Armed | undefined;
  const killed = new Map<string, FleetInstance>();
  const closedAt = new Map<string, number>();
  const warnings = new Map<string, number>();
  const note = ({ path, body }: PassedRequest): void => {
    const call = path.split('/').at(-1);
    if (call !== 'DeleteRoom' && call !== 'SendData') return;
    const { room, topic } = JSON.parse(body.toString());
    if (call === 'DeleteRoom') closedAt.set(room, closedAt.get(room) ?? Date.now());
    else if (topic === 'rtc.closing') warnings.set(room, (warnings.get(room) ?? 0) + 1);
  };
  const passAndNote = async (request: PassedRequest): Promise<PassedAnswer> => {
    const answer = await passTo(media.url, request);
    if (answer.status === 200) note(request);
    return answer;
  };
  return {
    /** Kills the instance that makes the awaited call for the room. */
    killAt: (state: PlanState, room: string): void => {
      armed = { state, room };
    },
    /** Returns the instance that was killed at its call for the room. */
    killed: (room: string) => killed.get(room),
    pass: async (
      request: PassedRequest,
      findInstance: () => FleetInstance | undefined,
    ): Promise<PassedAnswer> => {
      const awaited = armed;
      if (awaited === undefined || !isAwaited(awaited, request)) return await passAndNote(request);
      armed = undefined;
      const victim = findInstance();
      if (victim === undefined) throw new Error('an instance that has not started calls for a room');
      if (awaited.state.passes) await passAndNote(request);
      await victim.kill();
      killed.set(awaited.room, victim);
      throw new Error('the caller is dead');
    },
    closedAt: (room: string) => closedAt.get(room),
    countWarnings: (room: string) => warnings.get(room) ?? 0,
  };
}

function isAwaited({ state, room }: Armed, { path, body }: PassedRequest): boolean {
  return path.endsWith(`/${state.call}`) && body.includes(`"${room}"`);
}
