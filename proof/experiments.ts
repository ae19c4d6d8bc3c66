import type { Experiment } from './experiment.ts';
import { bucketFaults } from './faults/bucket-faults.ts';
import { chaosPostgres } from './faults/chaos/postgres.ts';
import { chaosSqlite } from './faults/chaos/sqlite.ts';
import { clocks } from './faults/clocks/clocks.ts';
import { mediaFaults } from './faults/media/media-faults.ts';
import { slowLivekit } from './faults/media/slow-livekit.ts';
import { livekitNodes } from './faults/nodes/livekit-nodes.ts';
import { rollingRestart } from './faults/rolling-restart.ts';
import { postgresFaults } from './faults/storage/postgres-faults.ts';
import { sqliteFaults } from './faults/storage/sqlite-faults.ts';
import { mixedVersions } from './faults/versions/mixed-versions.ts';
import { ingressKills } from './faults/workers/ingress-kills.ts';
import { liveSpeechKills } from './faults/workers/live-speech-kills.ts';
import { planKillsPostgres, planKillsSqlite } from './faults/workers/plan-kills.ts';
import { recorderKills } from './faults/workers/recorder-kills.ts';
import { speechKills } from './faults/workers/speech-kills.ts';
import { forbiddenAddresses } from './hostile/addresses/addresses.ts';
import { hostileConnections } from './hostile/connections/connections.ts';
import { documentCasesPostgres, documentCasesSqlite } from './hostile/document-cases.ts';
import { hostileFiles } from './hostile/files/files.ts';
import { hostileKeysPostgres, hostileKeysSqlite } from './hostile/keys/keys.ts';
import { hostileMedia } from './hostile/media/media.ts';
import { mutatedRequests } from './hostile/mutated.ts';
import { pages } from './hostile/pages/pages.ts';
import { hostilePeoplePostgres, hostilePeopleSqlite } from './hostile/people/people.ts';
import { hostileReceivers } from './hostile/receivers/receivers.ts';
import { hostileServers } from './hostile/servers/servers.ts';
import { forgedTokens } from './hostile/tokens/tokens.ts';
import { bigDataPostgres, bigDataSqlite } from './load/big-data.ts';
import { long } from './load/long.ts';
import { plannedEndsPostgres, plannedEndsSqlite } from './load/planned-ends.ts';
import { speed } from './load/speed.ts';
import { steadyLoad } from './load/steady-load.ts';
import { storedSpeechPostgres, storedSpeechSqlite } from './load/stored-speech.ts';
import { model } from './model/model.ts';
import { mutation } from './mutation/mutation.ts';

/** Every experiment of `npm run prove`, in the order of docs/proof.md. */
export const experiments: readonly Experiment[] = [
  chaosSqlite,
  chaosPostgres,
  rollingRestart,
  mixedVersions,
  clocks,
  mutatedRequests,
  documentCasesSqlite,
  documentCasesPostgres,
  hostileConnections,
  forbiddenAddresses,
  hostileServers,
  hostileReceivers,
  hostileMedia,
  hostileFiles,
  hostileKeysSqlite,
  hostileKeysPostgres,
  hostilePeopleSqlite,
  hostilePeoplePostgres,
  pages,
  forgedTokens,
  steadyLoad,
  long,
  speed,
  bigDataSqlite,
  bigDataPostgres,
  storedSpeechSqlite,
  storedSpeechPostgres,
  plannedEndsSqlite,
  plannedEndsPostgres,
  mediaFaults,
  slowLivekit,
  livekitNodes,
  sqliteFaults,
  postgresFaults,
  bucketFaults,
  recorderKills,
  planKillsSqlite,
  planKillsPostgres,
  ingressKills,
  speechKills,
  liveSpeechKills,
  model,
  mutation,
];
