import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CancelledError, CliError, EXIT } from '../errors/cli-error.ts';
import { fileError } from '../errors/file-error.ts';
import type { Io } from '../terminal/io.ts';
import { readStdin } from '../terminal/source-text.ts';

/** Time limit: a secret command may ask for a passphrase. */
const COMMAND_TIMEOUT_MS = 60_000;

/** Reads the secret in a file, `-` for stdin. The line end that editors add is not part of it. */
export async function readSecretFile(io: Io, path: string): Promise<string> {
  return checked(path === '-' ? await readStdin(io) : await readText(io, path), path);
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
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
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
  return checked(printed, 'the secret command');
}

async function readText(io: Io, path: string): Promise<string> {
  try {
    return await readFile(resolve(io.workingDirectory, path), 'utf8');
  } catch (cause) {
    throw fileError(cause, { path, doing: 'read', exitCode: EXIT.authentication });
  }
}

function checked(text: string, source: string): string {
  const secret = text.replace(/\r?\n$/, '');
  if (secret !== '') return secret;
  throw new CliError(
    EXIT.authentication,
    `${source === '-' ? 'stdin' : source} has no secret`,
    'it must contain the API secret, and nothing else, on one line',
  );
}
