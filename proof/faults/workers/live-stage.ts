import { randomBytes } from 'node:crypto';
import { RoomServiceClient } from 'livekit-server-sdk';
import { Client } from 'pg';
import { startLivekit } from '../../../test/support/parts/livekit.ts';
import { startPostgresServer } from '../../../test/support/parts/postgres-server.ts';
import { freePort } from '../../../test/support/parts/run-part.ts';
import type { ProofContext } from '../../part.ts';
import { mediaServerSettings, type SignedClient, startService } from '../../support/signed-client.ts';
import type { WorkerSettings } from '../../support/worker-process.ts';

/** A real LiveKit, one instance of the service on PostgreSQL that receives its webhooks, and settings for live workers. */
export type LiveStage = WorkerSettings & {
  readonly client: SignedClient;
  readonly databaseVersion: string;
  /** The session id of the worker's participant in the room; undefined if none is there. */
  readonly agentOf: (room: string) => Promise<string | undefined>;
  /** The worker that holds the transcription; null if none does. */
  readonly ownerOf: (transcriptionId: string) => Promise<string | null>;
};

const CONNECTIONS = 16;

export async function startLiveStage({ cleanUp }: Pick<ProofContext, 'cleanUp'>): Promise<LiveStage> {
  const database = await startPostgresServer();
  cleanUp(database.close);
  const port = await freePort();
  const livekit = await startLivekit({ webhookUrl: `http://127.0.0.1:${port}/livekit/webhook` });
  cleanUp(livekit.close);
  const settings = {
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ...mediaServerSettings(livekit),
  };
  const service = { environment: settings, port, connections: CONNECTIONS };
  const { client } = await startService({ cleanUp }, service);
  const rooms = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
  const rows = new Client({ connectionString: database.url });
  await rows.connect();
  cleanUp(() => rows.end());
  return {
    ...{ client, settings, databaseUrl: database.url, databaseVersion: database.version },
    agentOf: async (room) => {
      const people = await rooms.listParticipants(room);
      return people.find(({ identity }) => identity.startsWith('stt-live-'))?.sid;
    },
    ownerOf: async (id) => {
      const found = await rows.query('select "leaseOwner" from transcriptions where id = $1', [id]);
      return found.rows[0]?.leaseOwner ?? null;
    },
  };
}
