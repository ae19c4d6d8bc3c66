import { expect } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import type { NewRecording } from '../../../../src/server/recordings/store.ts';

export function newRecording(id: string, changes: Partial<NewRecording> = {}): NewRecording {
  const standard = {
    room: 'demo',
    filepath: `${id}.mp4`,
    bucket: null,
    owner: `owner of ${id}`,
    claimUntil: 1500,
  };
  return { id, ...standard, ...changes };
}

export async function expectUnavailable(
  work: Promise<unknown>,
  { retryable }: { readonly retryable: boolean },
): Promise<ServiceError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'storage-unavailable', retryable });
  return error as ServiceError;
}
