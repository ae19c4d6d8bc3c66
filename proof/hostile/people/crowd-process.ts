import { text } from 'node:stream/consumers';
import { join } from '../../../test/support/parts/participant.ts';

/*
 * Joins a room with every token of standard input, prints the milliseconds of each join, and stays until it is killed. LiveKit's
 * native client may end the process of hundreds of people.
 */
const { url, tokens }: { url: string; tokens: string[] } = JSON.parse(await text(process.stdin));
for (const token of tokens) {
  const startedAt = performance.now();
  await join(url, token).then(
    () => process.stdout.write(`joined ${Math.round(performance.now() - startedAt)}\n`),
    () => {},
  );
}
process.stdout.write('done\n');
setInterval(() => {}, 60_000);
