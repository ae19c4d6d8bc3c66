import { it } from 'vitest';
import { pages } from '../../proof/hostile/pages/pages.ts';
import { expectToHold } from './support/run-short.ts';

it('hostile pages read nothing of the console and the room, and texts of strangers stay texts', {
  timeout: 180_000,
}, async () => {
  await expectToHold(pages);
});
