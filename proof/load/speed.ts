import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { RoomServiceClient } from 'livekit-server-sdk';
import { startLivekit } from '../../test/support/parts/livekit.ts';
import { PEERS } from '../benches/webhooks/peers.ts';
import { startReceiver } from '../benches/webhooks/receiver.ts';
import { INBOUND_PER_SECOND, INBOUND_SECONDS, measureInbound } from '../benches/webhooks/service.ts';
import { type Place, postgresDatabase, sqliteDatabase } from '../benches/webhooks/stage.ts';
import {
  type Amount,
  measureFanOut,
  measureStream,
  type Rate,
  WHOLE_AMOUNT,
} from '../benches/webhooks/throughput.ts';
import {
  type Cleaning,
  type Experiment,
  type ExperimentContext,
  type Findings,
  makeFolder,
  type RunSize,
} from '../experiment.ts';
import {
  aimedAt,
  atLeast,
  atMost,
  exactly,
  type Figure,
  type Figures,
  inWords,
  named,
  observed,
  rangeInWords,
} from '../figures.ts';
import { mediaServerSettings } from '../support/signed-client.ts';
import { median, percentile, sum } from '../support/statistics.ts';
import {
  type Floor,
  type Keys,
  measurePlannedTokens,
  measureTokens,
  type Pair,
  type Program,
  repeatedCall,
  speedsInTurns,
  startProgram,
} from './tokens.ts';

const SERVE = fileURLToPath(new URL('../../test/server/webhooks/support/serve-process.ts', import.meta.url));
const CONCURRENCY = 16;
const TOKENS = {
  long: { rounds: 9, seconds: 1.5, concurrency: CONCURRENCY },
  short: { rounds: 1, seconds: 0.2, concurrency: CONCURRENCY },
} as const;
const AMOUNTS: Readonly<Record<RunSize, Amount>> = {
  long: WHOLE_AMOUNT,
  short: { rounds: 1, webhooks: 20, events: 500, bareRequests: 500, peerJobs: 0 },
};
const GOALS = { signed: 0.55, bare: 0.4, 'graphile-worker': 1.5, createHmac: 0.83 } as const;
const INBOUND = { long: INBOUND_SECONDS, short: 1 } as const;
/** The spread between the rounds of two equal servers is about as large as the missing twentieth. */
const TOKEN_RATIO = 0.95;
const ACKNOWLEDGED_MS = 50;
const ROOMS = 20;
const ROOMS_RATIO = 0.8;

export const speed: Experiment = { name: 'speed', run: measureSpeed };

async function measureSpeed(context: ExperimentContext): Promise<Findings> {
  const { runSize, report, cleanUp } = context;
  const tokens = [
    ...(await tokenFigures(context, 'livekit-server-sdk')),
    ...(await tokenFigures(context, 'createHmac')),
    ...(await planFigures(context)),
  ];
  const rooms = await roomFigures(context);
  report('tokens and rooms are measured');
  const receiver = cleanUp(await startReceiver());
  const figures: Figure[] = [...tokens, ...rooms];
  for (const open of [sqliteDatabase, postgresDatabase]) {
    const database = cleanUp(await open());
    figures.push(...(await eventFigures({ database, receiver }, runSize)));
    figures.push(...(await deliveryFigures({ database, receiver }, AMOUNTS[runSize])));
    report(`${database.name} is measured`);
  }
  return { figures, versions: { SQLite: process.versions.sqlite ?? '' } };
}

async function tokenFigures({ runSize, cleanUp }: ExperimentContext, by: Floor): Promise<Figures> {
  const service = await startUsualService({ cleanUp });
  const { speeds, processorTimes } = await measureTokens(service, by, TOKENS[runSize]);
  service.stop();
  const ratios = processorTimes.map(([measured, floor]) => floor / measured);
  const ratio = ratioFigure('ratio of the processor times', ratios);
  const judged =
    by === 'createHmac' ? goalFigure(ratio.name, ratios, GOALS.createHmac) : claimRatio(ratio, TOKEN_RATIO);
  return named(`tokens, beside a plain server with ${by}`, [
    ...pairFigures('requests', speeds, ' requests/s'),
    ratioFigure(
      'ratio of the rates',
      speeds.map(([measured, floor]) => measured / floor),
    ),
    ...pairFigures('processor time', processorTimes, ' µs'),
    runSize === 'long' ? judged : ratio,
  ]);
}

/** Beside tokens of rooms without a plan. */
async function planFigures({ runSize, cleanUp }: ExperimentContext): Promise<Figures> {
  const service = await startUsualService({ cleanUp });
  const { speeds, processorTimes } = await measurePlannedTokens(service, TOKENS[runSize]);
  service.stop();
  const ratios = processorTimes.map(([planned, plain]) => plain / planned);
  const ratio = ratioFigure('tokens of planned rooms: ratio of the processor times', ratios);
  return [
    ratioFigure(
      'tokens of planned rooms: ratio of the rates',
      speeds.map(([planned, plain]) => planned / plain),
    ),
    runSize === 'long' ? claimRatio(ratio, TOKEN_RATIO) : ratio,
  ];
}

/** Lists the rooms of a real LiveKit through the service, and by livekit-server-sdk. */
async function roomFigures({ runSize, cleanUp }: ExperimentContext): Promise<Figures> {
  const livekit = cleanUp(await startLivekit());
  const { url, keys } = await startUsualService({ cleanUp }, mediaServerSettings(livekit));
  const sdk = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
  for (let index = 0; index < ROOMS; index += 1) await sdk.createRoom({ name: `room-${index}` });
  const listed = cleanUp(repeatedCall(url, { method: 'GET', path: '/v1/rooms' }, keys, CONCURRENCY));
  const speeds = await speedsInTurns(listed.call, async () => void (await sdk.listRooms()), TOKENS[runSize]);
  const ratios = speeds.map(([measured, floor]) => measured / floor);
  const ratio = ratioFigure('lists of rooms: ratio of the rates', ratios);
  return [
    ...pairFigures('lists of rooms', speeds, ' requests/s'),
    runSize === 'long' ? claimRatio(ratio, ROOMS_RATIO) : ratio,
  ];
}

/** Starts the service with its usual settings, such as the access log and the metrics, and without the limit of requests. */
async function startUsualService(
  { cleanUp }: Cleaning,
  mediaServer: Readonly<Record<string, string>> = { LIVEKIT_URL: 'ws://127.0.0.1:9' },
): Promise<Program & { readonly keys: Keys }> {
  const folder = await makeFolder({ cleanUp });
  const keys = { apiKey: 'speed', apiSecret: randomBytes(24).toString('hex') };
  const program = await startProgram({
    args: [SERVE],
    output: 'stderr',
    environment: {
      ...{ API_KEY: keys.apiKey, API_SECRET: keys.apiSecret, RATE_LIMIT_API: '0' },
      ...{ PORT: '0', DATA_DIR: folder, ...mediaServer, CI: 'true' },
    },
  });
  cleanUp(program.stop);
  return { ...program, keys };
}

function pairFigures(name: string, pairs: readonly Pair[], unit: string): Figures {
  const side = (index: 0 | 1): number => Math.round(median(pairs.map((pair) => pair[index])));
  return [observed(name, side(0), unit), observed(`${name} of the plain server`, side(1), unit)];
}

async function eventFigures(place: Place, runSize: RunSize): Promise<Figures> {
  const times = await measureInbound(place, INBOUND[runSize]);
  const { name } = place.database;
  const p99 = {
    name: `events on ${name}: p99 until acknowledged`,
    measured: percentile(times, 0.99),
    unit: ' ms',
  };
  return [
    exactly(`events on ${name}: events acknowledged`, times.length, INBOUND_PER_SECOND * INBOUND[runSize]),
    observed(`events on ${name}: median until acknowledged`, percentile(times, 0.5), ' ms'),
    runSize === 'long'
      ? atMost({ ...p99, bound: ACKNOWLEDGED_MS })
      : observed(p99.name, p99.measured, p99.unit),
  ];
}

async function deliveryFigures(place: Place, amount: Amount): Promise<Figures> {
  const { name } = place.database;
  return [
    ...rateFigures(
      `${name}, one event to ${inWords(amount.webhooks)} webhooks`,
      await measureFanOut(place, amount),
    ),
    ...streamFigures(name, amount, await measureStream(place, amount)),
  ];
}

function streamFigures(name: string, amount: Amount, rates: readonly Rate[]): Figures {
  const stream = `${name}, ${inWords(amount.events)} events to one webhook`;
  const grown = (of: keyof Rate['grown']): number => median(rates.map((rate) => rate.grown[of]));
  const [{ peers } = { peers: new Map<keyof typeof PEERS, number>() }] = rates;
  return [
    ...rateFigures(stream, rates),
    observed(`${stream}, for each event: rows`, grown('rows')),
    observed(`${stream}, for each event: bytes with indexes`, Math.round(grown('bytes'))),
    ...[...peers.keys()].flatMap((peer) => peerFigures(peer, rates)),
  ];
}

/** Another queue that sends what the signing loop sends, in the same rounds. */
function peerFigures(peer: keyof typeof PEERS, rates: readonly Rate[]): Figures {
  const speeds = rates.map(({ peers }) => peers.get(peer) ?? Number.NaN);
  const name = 'our rate, as a multiple';
  const ahead = rates.map(({ perSecond }, round) => perSecond / (speeds[round] ?? Number.NaN));
  return named(`${peer} ${PEERS[peer]}, events to one webhook`, [
    observed('deliveries per second', Math.round(median(speeds))),
    ratioFigure(
      'ratio to the signing loop',
      rates.map(({ signed }, round) => (speeds[round] ?? Number.NaN) / signed),
    ),
    peer === 'graphile-worker' ? goalFigure(name, ahead, GOALS[peer]) : ratioFigure(name, ahead),
  ]);
}

function rateFigures(name: string, rates: readonly Rate[]): Figures {
  return [
    observed(`${name}: deliveries per second`, Math.round(median(rates.map(({ perSecond }) => perSecond)))),
    goalFigure(
      `${name}: ratio to the bare loop`,
      rates.map(({ perSecond, bare }) => perSecond / bare),
      GOALS.bare,
    ),
    goalFigure(
      `${name}: ratio to the signing loop`,
      rates.map(({ perSecond, signed }) => perSecond / signed),
      GOALS.signed,
    ),
    exactly(
      `${name}: deliveries that arrived`,
      sum(rates.map(({ arrived }) => arrived)),
      sum(rates.map(({ stored }) => stored)),
    ),
  ];
}

function goalFigure(name: string, ratios: readonly number[], bound: number): Figure {
  return { ...ratioFigure(name, ratios), ...aimedAt({ name, measured: median(ratios), bound }) };
}

function claimRatio(ratio: Figure, bound: number): Figure {
  return { ...ratio, ...atLeast({ name: ratio.name, measured: ratio.value ?? Number.NaN, bound }) };
}

function ratioFigure(name: string, ratios: readonly number[]): Figure {
  return { ...observed(name, median(ratios)), spread: rangeInWords(ratios) };
}
