/** Redis says no to a command; its first word is a code such as NOAUTH. */
export class RefusedCommand extends Error {
  override readonly name = 'RefusedCommand';
}

/**
 * Asks on a connection of its own, which is as fast as one that is kept where there is a question a minute. Rejects with
 * a RefusedCommand for what Redis refuses, and with other errors for a Redis that cannot be reached in time.
 */
export async function askRedis(
  url: URL,
  commands: readonly (readonly string[])[],
  timeoutMs: number,
): Promise<readonly unknown[]> {
  // Only who has a Redis to ask pays for its client.
  const { createClient, ErrorReply } = await import('@redis/client');
  const socket = { connectTimeout: timeoutMs, reconnectStrategy: false } as const;
  // Nothing but the questions is sent: a user of few rights may ask them.
  const client = createClient({ url: url.href, RESP: 2, disableClientInfo: true, socket });
  // It tells each failure twice: here, and by the promise.
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
