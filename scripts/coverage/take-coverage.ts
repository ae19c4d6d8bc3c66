import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

// Vitest kills its workers, and a killed process writes no coverage.
afterAll(() => takeCoverage());
