import { expect, it } from 'vitest';
import { livekitRedis, startRedis, toAddress } from '../../../src/server/dev/redis.ts';

const start = (REDIS_URL: string) =>
  startRedis({
    environment: { REDIS_URL },
    dataDir: '/nowhere',
    supervisor: {
      start: () => {
        throw new Error('nothing is to be started');
      },
    },
  });

it.each([
  ['redis://localhost', { address: 'localhost:6379' }],
  ['redis://127.0.0.1:6380/0', { address: '127.0.0.1:6380', db: 0 }],
  ['redis://[::1]:6380', { address: '[::1]:6380' }],
  [
    'rediss://rtc:p%40ss@redis.example:6390/3',
    { address: 'redis.example:6390', username: 'rtc', password: 'p@ss', db: 3, use_tls: true },
  ],
])('the Redis address %s is passed to the media server completely', async (url, expected) => {
  const redis = await start(url);
  expect(redis && livekitRedis(redis.url)).toEqual(expected);
});

it('the Redis address is shown without its password', async () => {
  const redis = await start('redis://:hunter2@localhost:6379');
  expect(redis && toAddress(redis.url)).toBe('localhost:6379');
});

it.each(['localhost:6379', 'http://localhost', 'hunter2'])(
  'the Redis address %s is rejected, and not repeated',
  async (url) => {
    const failure = await start(url).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(failure).toMatch(/^REDIS_URL must be of the form redis:/);
    expect(failure).not.toContain(url);
  },
);
