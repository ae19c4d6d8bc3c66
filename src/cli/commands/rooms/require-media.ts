import { CliError, EXIT } from '../../errors/cli-error.ts';

/**
 * Throws for the embedded media server, to which nobody can connect: it responds to LiveKit's connection check with 501.
 */
export async function requireMedia(mediaUrl: string, signal: AbortSignal): Promise<void> {
  const check = new URL('/rtc/validate', mediaUrl.replace(/^ws/, 'http'));
  const response = await fetch(check, { signal }).catch(() => undefined);
  if (response?.status !== 501) return;
  throw new CliError(
    EXIT.unavailable,
    'the embedded media server carries no sound and no pictures, so nobody can join it',
    'start a real one: rtc dev --media livekit; or add a simulated participant: rtc dev join',
  );
}
