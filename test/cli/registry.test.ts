import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/errors/cli-error.ts';
import { TOPICS } from '../../src/cli/framework/help/command-help.ts';
import { type Command, commandName } from '../../src/cli/framework/parameters.ts';
import { REGISTRY } from '../../src/cli/registry.ts';
import { isUnderstood, rtcCalls } from './support/rtc-calls.ts';
import { run } from './support/run.ts';

const loaded = await Promise.all(
  REGISTRY.map(async (entry) => ({ entry, commands: (await entry.load()).commands })),
);
const commands: readonly Command[] = loaded.flatMap((each) => each.commands);

describe('the registry', () => {
  it.each(loaded.map(({ entry, commands: all }) => [entry.noun, entry, all] as const))(
    'has the same verbs for %s as its commands',
    (noun, entry, all) => {
      expect(all.map((command) => command.noun)).toEqual(all.map(() => noun));
      expect(all.map((command) => command.verb).filter((verb) => verb !== '')).toEqual(entry.verbs);
    },
  );

  it('is printed in part by rtc --help, within a terminal of 80 columns and 24 lines with its prompt', async () => {
    for (const argv of [[], ['--help'], ['-h'], ['help']]) {
      const { code, stdout, stderr } = await run(argv, { columns: 80 });
      expect([code, stderr]).toEqual([0, '']);
      const lines = stdout.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(23);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
      const nouns = [...stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, noun]) => noun);
      expect(nouns).toHaveLength(13);
      for (const noun of nouns) expect(REGISTRY.map((group) => group.noun)).toContain(noun);
    }
  });

  it('is printed whole by rtc help all', async () => {
    const { code, stdout, stderr } = await run(['help', 'all'], { columns: 100 });
    expect([code, stderr]).toEqual([0, '']);
    // The summary is printed beside a noun, or below it if the noun has many verbs, which may take two lines.
    for (const { noun, summary } of REGISTRY) {
      const verbs = `${noun}\\b[^\n]*(?:\\|\n +[a-z|]+)?`;
      expect(stdout).toMatch(new RegExp(`^ {2}${verbs}\\n? +${summary}$`, 'm'));
    }
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});

describe.each(commands.map((command) => [commandName(command), command] as const))(
  'rtc %s',
  (name, command) => {
    it('has help with every argument, option and example', async () => {
      const { code, stdout } = await run([...name.split(' '), '--help']);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: rtc ${name}`);
      for (const { flags } of Object.values(command.options)) expect(stdout).toContain(flags?.split(' ')[0]);
      for (const { line, does } of command.examples) {
        expect(stdout).toContain(`# ${does}`);
        expect(stdout).toContain(`$ ${line}`);
      }
      expect((await run(['help', ...name.split(' ')])).stdout).toBe(stdout);
    });

    it('has examples that it accepts', async () => {
      expect(command.examples.length).toBeGreaterThan(0);
      const uses = command.examples.flatMap(({ line }) => rtcCalls(line));
      expect(uses.length).toBeGreaterThan(0);
      for (const words of uses) expect(await isUnderstood(words), words.join(' ')).toBe(true);
    });
  },
);

describe('rtc help', () => {
  it('names every exit code', async () => {
    const { stdout } = await run(['help', 'exit-codes']);
    for (const code of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`^ +${code} {2}\\S`, 'm'));
  });

  it.each(Object.keys(TOPICS))('shows %s within 80 columns', async (topic) => {
    const { code, stdout } = await run(['help', topic]);
    expect(code).toBe(0);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('of a noun describes it, lists its verbs with their arguments, and shows examples', async () => {
    const { code, stdout } = await run(['rooms']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: rtc rooms <verb> \[arguments\] \[options\]\n\nOpen rooms\.\n/);
    for (const verb of ['create <name>', 'list|ls', 'get <room>', 'delete|rm|close <rooms...>'])
      expect(stdout).toContain(`  ${verb} `);
    expect(stdout).toContain('Examples:\n  # ');
    expect(stdout).toContain('  $ rtc rooms create demo\n');
    expect(stdout.trimEnd().endsWith('rtc rooms create --help')).toBe(true);
    expect((await run(['rooms', '--help'])).stdout).toBe(stdout);
    expect((await run(['help', 'rooms'])).stdout).toBe(stdout);
  });

  it('of a noun that is a command too shows both ways to use it', async () => {
    const { stdout } = await run(['dev', '--help']);
    expect(stdout).toContain('Usage: rtc dev [options]\n       rtc dev <verb> [arguments] [options]\n');
    expect(stdout).toContain('  leave <room> <identity> ');
  });

  it.each(commands.map((command) => [commandName(command), command] as const))(
    'of %s mentions the API only on request, and says nothing twice',
    async (name, { needs }) => {
      const { stdout } = await run([...name.split(' '), '--help']);
      expect(/print the API's response/.test(stdout)).toBe(needs === 'service');
      expect(/--debug/.test(stdout)).toBe(needs === 'service');
      expect(stdout).not.toMatch(/reads stdin[^\n]*reads stdin/);
      expect(stdout.match(/^ +-h, --help/gm)).toHaveLength(1);
      // A heading has lines below it.
      expect(stdout).not.toMatch(/:\n\n(?=\S)/);
    },
  );
});

describe('rtc version', () => {
  it.each([['version'], ['--version'], ['-V']])('is printed by %s', async (word) => {
    expect((await run([word])).stdout).toMatch(/^rtc \d+\.\d+\.\d+ \(Node /);
  });
});
