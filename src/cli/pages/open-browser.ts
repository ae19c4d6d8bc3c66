import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../terminal/io.ts';

/*
 * The link has a code that grants access, which must not be in the arguments of a process, where every user of the machine
 * can read it. Therefore the browser gets a file that only we can read, and that redirects to the link.
 */

export type OpenedBrowser = { readonly close: () => Promise<void> };

/** Opens the browser. Returns undefined when no program opens links; then the link has to be printed. */
export async function openBrowser(
  io: Pick<Io, 'env' | 'runtime'>,
  link: string,
): Promise<OpenedBrowser | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-open-'));
  const close = () => rm(folder, { recursive: true, force: true });
  const file = join(folder, 'open.html');
  await writeFile(file, redirectPage(link), { mode: 0o600, flag: 'wx' });
  if (await runOpener(io, file)) return { close };
  await close();
  return undefined;
}

function redirectPage(link: string): string {
  const escaped = link.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${escaped}"><title>Opening the page</title>\n`;
}

const OPENERS: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  // Not with cmd, which would read a & in the name of a user's folder as the end of the command.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** Whether the program started. Its later errors are unknown. */
async function runOpener({ env, runtime }: Pick<Io, 'env' | 'runtime'>, file: string): Promise<boolean> {
  const chosen = env.BROWSER;
  const [program, ...args] =
    chosen === undefined || chosen === '' ? (OPENERS[runtime.platform] ?? ['xdg-open']) : [chosen];
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [...args, file], { detached: true, stdio: 'ignore' });
  child.once('error', () => resolve(false));
  child.once('spawn', () => resolve(true));
  child.unref();
  return await promise;
}
