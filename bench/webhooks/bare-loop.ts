import { Agent, request } from 'undici';

const BODY = JSON.stringify({
  event: 'room_finished',
  room: { name: 'x'.repeat(300) },
  id: 'evt_0123456789abcdef',
});
const HEADERS = {
  'content-type': 'application/json',
  'x-service-webhook-signature': `sha256=${'0'.repeat(64)}`,
  'x-service-webhook-event': 'room_finished',
  'webhook-id': 'evt_0123456789abcdef',
  'webhook-timestamp': '1767225600',
  'webhook-signature': `v1,${'0'.repeat(44)}`,
};

/** Posts `count` bodies of a delivery's size and awaits the answers, `concurrency` at a time; requests per second. */
export async function bareLoop(url: string, count: number, concurrency: number): Promise<number> {
  const dispatcher = new Agent({ connections: concurrency });
  let left = count;
  const post = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      const answer = await request(url, { dispatcher, method: 'POST', headers: HEADERS, body: BODY });
      await answer.body.dump();
    }
  };
  // Connections are made beforehand, as they are there when the service delivers.
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      const answer = await request(url, { dispatcher, method: 'POST', headers: HEADERS, body: BODY });
      await answer.body.dump();
    }),
  );
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, post));
  const rate = (count * 1000) / (performance.now() - startedAt);
  await dispatcher.close();
  return rate;
}
