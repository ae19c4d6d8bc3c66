import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openFullScreen } from '../../../src/cli/terminal/full-screen.ts';
import type { Io } from '../../../src/cli/terminal/io.ts';

const ENTER = '\u001b[?1049h';
const LEAVE = '\u001b[?1049l';

function open(platform = 'linux') {
  let text = '';
  const modes: boolean[] = [];
  const listeners = new Map<string, () => void>();
  const calls: string[] = [];
  const keys: string[] = [];
  const listen = (name: string, listener: () => void) => {
    listeners.set(name, listener);
    return () => listeners.delete(name);
  };
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  });
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const io: Pick<Io, 'stdin' | 'stdout' | 'runtime' | 'processControl'> = {
    stdin,
    stdout,
    runtime: { node: '', platform, arch: '' },
    processControl: {
      onSignal: listen,
      onExit: (listener) => listen('exit', listener),
      stop: () => calls.push('stop'),
    },
  };
  const screen = openFullScreen(io, {
    onKey: (key) => keys.push(key),
    onRedraw: () => calls.push('redraw'),
  });
  const written = (): string => {
    const all = text;
    text = '';
    return all;
  };
  return { screen, stdin, stdout, modes, listeners, calls, keys, written };
}

describe('a full screen', () => {
  it('restores the terminal', () => {
    const { screen, modes, listeners, written } = open();
    expect(written()).toContain(ENTER);
    screen.close();
    expect(written()).toContain(LEAVE);
    expect(modes).toEqual([true, false]);
    expect(listeners.size).toBe(0);
  });

  it('restores the terminal when the process ends without closing the screen, such as by an exception', () => {
    const { listeners, modes, written } = open();
    listeners.get('exit')?.();
    expect(written()).toContain(LEAVE);
    expect(modes.at(-1)).toBe(false);
  });

  it.each(['Ctrl-Z', 'SIGTSTP'])('restores the terminal while the process is stopped by %s', (how) => {
    const { stdin, listeners, modes, calls, written } = open();
    written();
    if (how === 'Ctrl-Z') stdin.emit('data', Buffer.from('\u001a'));
    else listeners.get('SIGTSTP')?.();
    expect([written(), modes.at(-1), calls]).toEqual([expect.stringContaining(LEAVE), false, ['stop']]);
    listeners.get('SIGCONT')?.();
    expect([written(), modes.at(-1), calls]).toEqual([
      expect.stringContaining(ENTER),
      true,
      ['stop', 'redraw'],
    ]);
  });

  it('ignores Ctrl-Z on Windows, where no process can be stopped', () => {
    const { stdin, listeners, modes, calls, keys, written } = open('win32');
    written();
    stdin.emit('data', Buffer.from('\u001aq'));
    expect([written(), modes, calls, keys]).toEqual(['', [true], [], ['q']]);
    expect([...listeners.keys()]).toEqual(['exit']);
  });

  it('writes only changed lines, and all of them after a change of the size', () => {
    const { screen, stdout, calls, written } = open();
    screen.draw(['one', 'two']);
    written();
    screen.draw(['one', 'three']);
    expect(written()).toBe('\u001b[2;1H\u001b[2Kthree');
    stdout.emit('resize');
    expect(calls).toEqual(['redraw']);
    screen.draw(['one', 'three']);
    expect(written()).toContain('one');
  });

  it('distinguishes keys, and ignores unknown sequences', () => {
    const { stdin, keys } = open();
    stdin.emit('data', Buffer.from('jé\u001b[A\u001bOB\t\r\u007f\u001b[15~\u0003'));
    expect(keys).toEqual(['j', 'é', 'up', 'down', 'tab', 'enter', 'backspace', 'ctrl-c']);
  });
});
