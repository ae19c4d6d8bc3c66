import { bucketFaults } from './bucket/bucket-faults.ts';
import { orderedOnPostgres, orderedOnSqlite } from './chaos/ordered.ts';
import { chaosPostgres } from './chaos/postgres.ts';
import { chaosSqlite } from './chaos/sqlite.ts';
import { forbiddenAddresses } from './hostile/addresses/addresses.ts';
import { hostileConnections } from './hostile/connections/connections.ts';
import { documentCasesPostgres, documentCasesSqlite } from './hostile/document-cases.ts';
import { hostileMedia } from './hostile/media/media.ts';
import { mutatedRequests } from './hostile/mutated.ts';
import { hostileReceivers } from './hostile/receivers/receivers.ts';
import { hostileServers } from './hostile/servers/servers.ts';
import { forgedTokens } from './hostile/tokens/tokens.ts';
import { steadyLoad } from './load/load.ts';
import { mediaFaults } from './media/media-faults.ts';
import { slowLivekit } from './media/slow-livekit.ts';
import { model } from './model/model.ts';
import { mutation } from './mutation/mutation.ts';
import { livekitNodes } from './nodes/livekit-nodes.ts';
import type { ProofPart } from './part.ts';
import { rollingRestart } from './rolling/rolling.ts';
import { bigDataPostgres, bigDataSqlite } from './scale/big-data.ts';
import { speed } from './speed/speed.ts';
import { postgresFaults } from './storage/postgres-faults.ts';
import { sqliteFaults } from './storage/sqlite-faults.ts';
import { ingressKills } from './workers/ingress-kills.ts';
import { liveSpeechKills } from './workers/live-speech-kills.ts';
import { recorderKills } from './workers/recorder-kills.ts';
import { speechKills } from './workers/speech-kills.ts';

/** Every part of `npm run prove`, in the order of docs/proof.md. */
export const parts: readonly ProofPart[] = [
  chaosSqlite,
  chaosPostgres,
  orderedOnSqlite,
  orderedOnPostgres,
  rollingRestart,
  mutatedRequests,
  documentCasesSqlite,
  documentCasesPostgres,
  hostileConnections,
  forbiddenAddresses,
  hostileServers,
  hostileReceivers,
  hostileMedia,
  forgedTokens,
  steadyLoad,
  speed,
  bigDataSqlite,
  bigDataPostgres,
  mediaFaults,
  slowLivekit,
  livekitNodes,
  sqliteFaults,
  postgresFaults,
  bucketFaults,
  recorderKills,
  ingressKills,
  speechKills,
  liveSpeechKills,
  model,
  mutation,
];
