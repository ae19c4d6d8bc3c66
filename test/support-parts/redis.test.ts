import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startRedis } from '../support/parts/redis.ts';

describe('a separate Redis', () => {
  it('keeps its data until it is closed', async () => {
    const redis = await startRedis();
    const value = randomUUID();
    expect(await command(redis.address, `SET greeting ${value}`)).toBe('+OK\r\n');
    expect(await command(redis.address, 'GET greeting')).toBe(`$36\r\n${value}\r\n`);
    await redis.close();
    await expect(command(redis.address, 'PING')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('runs beside another one', async () => {
    const [one, other] = await Promise.all([startRedis(), startRedis()]);
    await command(one.address, 'SET greeting hello');
    expect(await command(other.address, 'GET greeting')).toBe('$-1\r\n');
    await Promise.all([one.close(), other.close()]);
  });
});

async function command(address: string, line: string): Promise<string> {
  const [host, port] = address.split(':');
  const socket = connect(Number(port), host);
  try {
    await once(socket, 'connect');
    socket.write(`${line}\r\n`);
    const [response] = await once(socket, 'data');
    return String(response);
  } finally {
    socket.destroy();
  }
}
