/**
 * `node scripts/terminal-lines.ts` writes the terminal lines of the readme from a real run: `rtc dev` with a real LiveKit in its
 * own folder, and commands in pseudo-terminals. The participant stays, so that its command holds its terminal.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import { LAUNCHER, ROOT } from '../test/support/parts/built.ts';
import { replaceBlock } from './replace-block.ts';

const README = `${ROOT}README.md`;
/** Lines before this command are not shown. */
const FIRST = 'rooms create demo';
const JOIN = 'dev join demo ada';
const COMMANDS = ['participants list demo', 'events list --room demo'] as const;
/** The place of a livekit-server that was built before. */
const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
const home = await mkdtemp(join(tmpdir(), 'rtc-readme-'));
const dev = start(['dev', '--port', '0', '--without', 'stt-live,stt-post,recorder']);
try {
  await dev.shows(/Ctrl-C stops it all/);
  await start(FIRST.split(' ')).ended;
  const participant = start(JOIN.split(' '));
  await participant.shows(/Ctrl-C leaves/);
  const runs: string[] = [`$ rtc ${JOIN}\n${participant.text().trimEnd()}\n\n# in another terminal:`];
  for (const command of COMMANDS) {
    const run = start(command.split(' '));
    await run.ended;
    runs.push(`$ rtc ${command}\n${run.text().trimEnd()}`);
  }
  participant.pty.kill('SIGINT');
  await participant.ended;
  const lines = `\`\`\`text\n${runs.join('\n')}\n\`\`\``;
  await writeFile(README, replaceBlock(await readFile(README, 'utf8'), 'terminal-lines', lines));
} finally {
  dev.pty.kill('SIGINT');
  await dev.ended;
  await rm(home, { recursive: true, force: true });
}

function start(argv: readonly string[]) {
  let text = '';
  const waiting: (() => void)[] = [];
  const pty: IPty = spawn(process.execPath, [LAUNCHER, ...argv], {
    cols: 100,
    rows: 40,
    cwd: home,
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm', HOME: home, XDG_CACHE_HOME: CACHE, NO_COLOR: '1' },
  });
  pty.onData((data) => {
    text += stripVTControlCharacters(data).replaceAll('\r', '');
    for (const check of waiting) check();
  });
  return {
    pty,
    text: () => text,
    ended: new Promise<void>((resolve) => pty.onExit(() => resolve())),
    shows: (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const check = (): void => {
          if (pattern.test(text)) resolve();
        };
        waiting.push(check);
        check();
      }),
  };
}
