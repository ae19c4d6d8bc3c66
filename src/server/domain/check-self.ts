import type { SelfCheck } from '../../contract/self-check.ts';
import type { Clock, IdGenerator } from '../ports/clock.ts';
import type { RecordingStorage } from '../ports/recording-storage.ts';
import { recordingPath } from './recording-path.ts';

export type SelfCheckDeps = {
  readonly recordingStorage: RecordingStorage;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly recordings: { readonly pathTemplate: string };
};

/** What only the service can find out, as it has the keys: for `rtc doctor`. */
export async function checkSelf(deps: SelfCheckDeps): Promise<readonly SelfCheck[]> {
  return await Promise.all([checkStorage(deps)]);
}

/** Where a recording would go, as rights may be given by path; but no video, which others may wait for there. */
async function checkStorage(deps: SelfCheckDeps): Promise<SelfCheck> {
  const { recordingStorage, clock, ids, recordings } = deps;
  const path = recordingPath(recordings.pathTemplate, `rtc-doctor-${ids.next()}`, clock.now());
  const trial = await recordingStorage.tryOut(path.replace(/\.mp4$/, '.txt'));
  return { check: recordingStorage.kind, ...trial };
}
