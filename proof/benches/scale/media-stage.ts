import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import type { EmbeddedControl } from '../../../src/server/media-simulator/control.ts';
import { startEmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../../src/server/platform/system.ts';
import { ABSENT_MEDIA } from '../../../test/server/webhooks/support/media-webhook.ts';
import { portOf } from '../../../test/support/forwarding-server.ts';
import { fillerOf } from '../../support/fill.ts';
import { type BenchStage, openStage, type StageOptions } from './stage.ts';

/** A stage whose instances use the embedded media server, which runs in this process and is not measured. */
export type MediaStage = BenchStage & {
  readonly control: EmbeddedControl;
  /** Says whether the media server's events reach the instances, from now on. */
  readonly passEvents: (passes: 'all' | 'none') => void;
};

/** A recorder starts and ends at once, so that a round contains little idle time. */
const TIMINGS = { startMs: 20, startResponseMs: 10, recorderJoinMs: 20, activeMs: 50, finishMs: 20 };
const WORKER_LIFETIME_MS = 3_600_000;

export async function openMediaStage(options: StageOptions): Promise<MediaStage> {
  const recordingDir = await mkdtemp(join(tmpdir(), 'rtc-bench-recordings-'));
  const entrance = await startEntrance();
  const media = await startEmbeddedMediaServer({
    ...{ host: '127.0.0.1', port: 0, ...ABSENT_MEDIA, clock: systemClock, ids: systemIds, recordingDir },
    ...{ webhookUrls: [entrance.url], timings: TIMINGS },
  });
  const environment = { LIVEKIT_URL: media.url.replace('http', 'ws'), RECORDING_DIR: recordingDir };
  const stage = await openStage({ ...options, environment });
  entrance.open(stage.instances.map(({ url }) => url));
  await addSpeechWorker(stage, options);
  return {
    ...stage,
    control: media.control,
    passEvents: entrance.pass,
    close: async () => {
      await stage.close();
      await media.close();
      await entrance.close();
      await rm(recordingDir, { recursive: true, force: true });
    },
  };
}

/** Receives the media server's events, and passes each one to the next instance, as a proxy does. */
async function startEntrance() {
  let pools: readonly Pool[] = [];
  let passes: 'all' | 'none' = 'all';
  let next = 0;
  const forward = async (request: IncomingMessage): Promise<number> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const pool = pools[next++ % pools.length];
    if (pool === undefined || passes === 'none') return 200;
    const headers = {
      'content-type': request.headers['content-type'] ?? '',
      authorization: request.headers.authorization ?? '',
    };
    const response = await pool.request({ path: '/livekit/webhook', method: 'POST', headers, body });
    await response.body.dump();
    return response.statusCode;
  };
  const server = createServer(async (request, response) => {
    response.writeHead(await forward(request).catch(() => 502)).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    open: (urls: readonly string[]) => {
      pools = urls.map((url) => new Pool(url));
    },
    pass: (which: 'all' | 'none') => {
      passes = which;
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.destroy()));
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Adds the row of a living worker, without which no transcription starts. Nobody claims the transcriptions. */
async function addSpeechWorker({ fleet }: BenchStage, { database }: StageOptions): Promise<void> {
  const { options } = database;
  const file = { sqlitePath: join(fleet.dataDir, 'rtc.sqlite') };
  const filler = await fillerOf('databaseUrl' in options ? { databaseUrl: options.databaseUrl } : file);
  await filler.run(`
    insert into "speechWorkers" (id, kind, languages, "failedModels", "aliveUntil")
    values ('bench-${systemIds.next()}', 'stt-live', '["en"]', '[]', ${Date.now() + WORKER_LIFETIME_MS})`);
  await filler.close();
}
