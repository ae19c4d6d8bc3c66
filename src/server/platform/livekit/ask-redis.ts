/** Redis refused a command. The message begins with a code such as NOAUTH. */
export class RefusedCommand extends Error {
  override readonly name = 'RefusedCommand';
}

/**
 * Sends the commands on a connection of their own: they are sent once a scrape at most, so keeping one open would
 * gain little. Rejects with a RefusedCommand when Redis refuses one, and with another error when Redis cannot be reached in
 * time.
 */
export async function askRedis(
  url: URL,
  commands: readonly (readonly string[])[],
  timeoutMs: number,
): Promise<readonly unknown[]> {
  // Loaded only where REDIS_URL is set.
  const { createClient, ErrorReply } = await import('@redis/client');
  const socket = { connectTimeout: timeoutMs, reconnectStrategy: false } as const;
  // Sends nothing but the commands, so that a user with few rights is enough.
  const client = createClient({ url: url.href, RESP: 2, disableClientInfo: true, socket });
  // The client reports each error twice: here, and by rejecting.
  client.on('error', () => {});
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    client.destroy();
  }, timeoutMs);
  try {
    await client.connect();
    return await Promise.all(commands.map((command) => client.sendCommand(command)));
  } catch (error) {
    if (isLate) throw new Error('no answer in time');
    throw error instanceof ErrorReply ? new RefusedCommand(error.message) : error;
  } finally {
    clearTimeout(timer);
    if (client.isOpen) client.destroy();
  }
}
