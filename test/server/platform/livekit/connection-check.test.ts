import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { NoConnectionError, withConnectionCheck } from '../../../../src/server/platform/livekit/errors.ts';

const never = () => new Promise<never>(() => {});

it('the connection check ends a call without a response when nothing accepts connections', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.close();
  await once(server, 'close');
  await expect(withConnectionCheck({ url, connectMs: 10 }, never())).rejects.toThrow(NoConnectionError);
});

it('the connection check does not affect a call whose server accepts connections', async () => {
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

it('the connection check passes on the error of a call', async () => {
  const call = Promise.reject(new Error('its own'));
  await expect(withConnectionCheck({ url: 'http://127.0.0.1:1', connectMs: 10_000 }, call)).rejects.toThrow(
    'its own',
  );
});
