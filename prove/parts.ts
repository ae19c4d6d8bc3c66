import { chaosPostgres } from './chaos/postgres.ts';
import { chaosSqlite } from './chaos/sqlite.ts';
import { documentCasesPostgres, documentCasesSqlite } from './hostile/document-cases.ts';
import { mutatedRequests } from './hostile/mutated.ts';
import { steadyLoad } from './load/load.ts';
import { mediaFaults } from './media/media-faults.ts';
import { mutation } from './mutation/mutation.ts';
import type { ProofPart } from './part.ts';
import { rollingRestart } from './rolling/rolling.ts';

/** Every part of `npm run prove`, in the order of docs/proof.md. */
export const parts: readonly ProofPart[] = [
  chaosSqlite,
  chaosPostgres,
  rollingRestart,
  mutatedRequests,
  documentCasesSqlite,
  documentCasesPostgres,
  steadyLoad,
  mediaFaults,
  mutation,
];
