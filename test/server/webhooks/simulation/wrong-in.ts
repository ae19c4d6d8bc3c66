import { type Simulation, simulate } from './simulate.ts';

/** Returns the violations of all simulations, each with the seed that reproduces it. */
export async function wrongInAll(first: number, count: number): Promise<readonly string[]> {
  const failed: string[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const wrong = wrongIn(await simulate(seed));
    if (wrong.length > 0) failed.push(`seed ${seed}: ${wrong.join('; ')}`);
  }
  return failed;
}

/** One first attempt and three retries. */
const ROUND_ATTEMPTS = 4;

export function wrongIn({ deliveries, receivers, weather, violations }: Simulation): readonly string[] {
  const rows = deliveries.all;
  const listRequests = ({ webhookId, eventId }: { readonly webhookId: string; readonly eventId: string }) =>
    receivers.requests.filter((one) => one.webhookId === webhookId && one.eventId === eventId);
  const wrong = rows.flatMap((row) => {
    const requests = listRequests(row);
    const accepted = requests.filter(({ arrived }) => arrived === 'accepted').length;
    return [
      ...(row.state === 'pending' ? [`${row.id} is never sent`] : []),
      ...(row.state === 'delivered' && accepted === 0 ? [`${row.id} is delivered to nobody`] : []),
      ...(row.state === 'failed' && requests.length < ROUND_ATTEMPTS ? [`${row.id} is given up early`] : []),
      ...(row.attempts > requests.length ? [`${row.id} has more attempts than requests`] : []),
      ...(weather !== 'storm' && requests.length !== 1
        ? [`${row.id} was sent ${requests.length} times`]
        : []),
    ];
  });
  if (weather === 'calm' && deliveries.takenOver > 0) wrong.push('a living instance lost a lease');
  const known = new Set(rows.map(({ id }) => id));
  wrong.push(...[...deliveries.stored].filter((id) => !known.has(id)).map((id) => `${id} is lost`));
  wrong.push(...deliveries.endedTwice.map((id) => `${id} has ended, and its end is stored again`));
  return [...new Set(violations), ...wrong];
}
