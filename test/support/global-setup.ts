import type { TestProject } from 'vitest/node';
import { startSharedPartsServer } from './parts/shared-parts-server.ts';

/** Lets tests share real parts within one run; a run whose tests ask for none starts none. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startSharedPartsServer();
  project.provide('sharedPartsUrl', server.url);
  return server.close;
}
