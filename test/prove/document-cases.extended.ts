import { it } from 'vitest';
import { documentCases } from '../../prove/hostile/document-cases.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'random requests to every operation are answered as the document says, on both databases',
  () => expectToHold(documentCases),
  180_000,
);
