import type { TestProject } from 'vitest/node';
import { startSharedPartsServer } from './parts/shared-parts-server.ts';

/** Lets the tests of one run share real parts. A part is started when a test first asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startSharedPartsServer();
  project.provide('sharedPartsUrl', server.url);
  return server.close;
}
