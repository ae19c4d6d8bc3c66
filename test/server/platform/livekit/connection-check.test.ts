import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import {
  NoConnectionError,
  withConnectionCheck,
} from '../../../../src/server/platform/livekit/connection-check.ts';

const never = () => new Promise<never>(() => {});

it('gives up a call that goes unanswered when nothing accepts connections there', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.close();
  await once(server, 'close');
  await expect(withConnectionCheck({ url, connectMs: 10 }, never())).rejects.toThrow(NoConnectionError);
});

it('leaves a call alone whose server accepts connections', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = Promise.withResolvers<string>();
  const checked = withConnectionCheck({ url, connectMs: 10 }, call.promise);
  const [socket] = await once(server, 'connection');
  await once(socket, 'close');
  call.resolve('late');
  expect(await checked).toBe('late');
  server.close();
});

it('passes on what a call rejects with', async () => {
  const call = Promise.reject(new Error('its own'));
  await expect(withConnectionCheck({ url: 'http://127.0.0.1:1', connectMs: 10_000 }, call)).rejects.toThrow(
    'its own',
  );
});
