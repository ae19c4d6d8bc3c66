import { copyingFault } from '../../contract/webhooks.ts';
import { CancelledError, CliError, EXIT, usageError } from '../errors/cli-error.ts';
import type { Io } from '../terminal/io.ts';
import { decodeText, readStdin, readTextFile } from '../terminal/source-text.ts';

/** Time limit: a secret command may ask for a passphrase. */
const COMMAND_TIMEOUT_MS = 60_000;

/** Reads the secret in a file, `-` for stdin. The line end that editors add is not part of it. */
export async function readSecretFile(io: Io, path: string): Promise<string> {
  const text = path === '-' ? await readStdin(io) : await readTextFile(io, path, EXIT.authentication);
  return checked(text, path === '-' ? 'stdin' : path);
}

/**
 * Runs `command` in the shell and returns its output. Its stdin and stderr are the terminal's, so that it can ask for a
 * passphrase.
 */
export async function runSecretCommand(io: Io, command: string): Promise<string> {
  const { spawn } = await import('node:child_process');
  const child = spawn(command, {
    shell: true,
    env: { ...io.env },
    cwd: io.workingDirectory,
    stdio: ['inherit', 'pipe', 'inherit'],
    timeout: COMMAND_TIMEOUT_MS,
    signal: io.signal,
  });
  const printed: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  const ended = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code === 0 ? '' : `it ended with ${signal ?? code}`));
  });
  if (io.signal.aborted) throw new CancelledError('stopped in the secret command');
  if (ended !== '') {
    // The command itself is the user's own setting, not a secret.
    throw new CliError(
      EXIT.authentication,
      `the secret command failed: ${ended}`,
      `try it yourself: ${command}`,
    );
  }
  const source = 'the secret command';
  return checked(decodeText(Buffer.concat(printed), source), source);
}

function checked(text: string, source: string): string {
  const secret = withoutLineEnd(text);
  if (secret !== '') return checkSecret(secret, source);
  throw new CliError(
    EXIT.authentication,
    `${source} has no secret`,
    'it must contain the API secret, and nothing else, on one line',
  );
}

/** Removes the line end that an editor or `echo` adds. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/**
 * Returns the secret. With a blank, a line end or quotes it would be another secret, and the service would only say that
 * the signature does not match.
 * @throws CliError (usage), without the secret
 */
export function checkSecret(secret: string, source: string): string {
  const fault = copyingFault(secret);
  if (fault === undefined) return secret;
  throw usageError(
    `the secret in ${source} ${fault}`,
    'give the secret alone; to see what is there: … | od -c | tail -3',
  );
}
