import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHELLS } from '../../support/parts/shells.ts';
import { run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

const HOSTILE = `it's $(touch /tmp/never) \`x\` "y"; z`;

let stack: Stack;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rtc-completion-'));
  stack = await startStack();
  for (const room of ['demo', 'dessert', HOSTILE]) {
    await run(['rooms', 'create', room], { env: stack.environment });
  }
});
afterAll(async () => {
  await stack.close();
  await rm(directory, { recursive: true, force: true });
});

async function complete(
  line: string,
  env: Readonly<Record<string, string>> = stack.environment,
): Promise<string[]> {
  const words = line.split(' ');
  const current = words.pop() ?? '';
  const { code, stdout, stderr } = await run(['__complete', ...words, `--current=${current}`], { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0] ?? '']));
}

describe('completion', () => {
  it.each([
    ['ro', ['rooms']],
    [
      'rooms ',
      [
        'create',
        'list',
        'get',
        'update',
        'send',
        'mute',
        'open',
        'join',
        'waiting',
        'admit',
        'deny',
        'closed',
        'delete',
      ],
    ],
    ['rooms l', ['list']],
    ['--profile dev rooms l', ['list']],
    ['rooms --profile dev l', ['list']],
    ['rooms --debug get de', ['demo', 'dessert']],
    ['dev ', ['join', 'leave']],
    ['rooms get de', ['demo', 'dessert']],
    ['rooms delete demo de', ['dessert']],
    ['rooms get demo de', []],
    ['rooms list --w', ['--watch']],
    ['tokens create --ro', ['--room', '--role']],
    ['tokens create --role ', ['host', 'moderator', 'participant', 'viewer']],
    ['tokens create --room de', ['demo', 'dessert']],
    ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['help ex', ['exit-codes']],
    [
      'webhooks create https://h --events room_',
      ['room_closed', 'room_closing', 'room_created', 'room_finished', 'room_join_refused', 'room_started'],
    ],
    [
      'events tail --types room_started,room_',
      [
        'room_started,room_closed',
        'room_started,room_closing',
        'room_started,room_created',
        'room_started,room_finished',
        'room_started,room_join_refused',
      ],
    ],
    ['webhooks create https://h --events *,room_c', ['*,room_closed', '*,room_closing', '*,room_created']],
    ['tokens create --role=ho', ['--role=host']],
    ['tokens create --room=de', ['--room=demo', '--room=dessert']],
    ['rooms list --nope=x', []],
    ['cf check --file ', [':files']],
    ['recordings download EG_1 ', [':files']],
    ['rooms create --empty-timeout ', []],
    ['nonsense ', []],
  ])('completes "%s"', async (line, expected) => {
    expect((await complete(line)).toSorted()).toEqual(expected.toSorted());
  });

  it('of webhooks is their ids, with their URLs', async () => {
    const { stdout } = await run(['webhooks', 'create', 'https://example.org/hook', '--json', 'id'], {
      env: stack.environment,
    });
    const { id } = JSON.parse(stdout) as { readonly id: string };
    for (const line of ['webhooks get wh_', 'webhooks replay ', 'webhooks delete wh_'])
      expect(await complete(line)).toEqual([id]);
    const words = ['__complete', 'webhooks', 'rotate', '--current='];
    const described = await run(words, { env: stack.environment });
    expect(described.stdout).toBe(`${id}\thttps://example.org/hook\n`);
  });

  it('of keys is their ids, with their names', async () => {
    const made = await run(['keys', 'create', 'dashboard', '--scope', 'read', '--json', 'id'], {
      env: stack.environment,
    });
    const { id } = JSON.parse(made.stdout);
    for (const line of ['keys get key_', 'keys revoke ', 'audit list --key '])
      expect(await complete(line), line).toEqual([id]);
    const described = await run(['__complete', 'keys', 'revoke', '--current='], { env: stack.environment });
    expect(described.stdout).toBe(`${id}\tdashboard, active\n`);
  });

  it('is silent when no service responds', async () => {
    expect(await complete('rooms get de', { ...stack.environment, RTC_URL: 'http://127.0.0.1:9' })).toEqual(
      [],
    );
    expect(await complete('rooms get de', {})).toEqual([]);
  });

  it('runs no secret command', async () => {
    const env = { XDG_CONFIG_HOME: directory };
    const argv = ['--url', stack.service.url, '--api-key', stack.service.apiKey];
    await run(['profile', 'add', 'asking', ...argv, '--secret-command', `echo ${stack.service.apiSecret}`], {
      env,
    });
    expect((await run(['rooms', 'list'], { env })).stdout).toContain('demo');
    expect(await complete('rooms get de', env)).toEqual([]);
    for (const line of ['profile show a', '--profile a', 'rooms --profile a', 'rooms list --profile a'])
      expect(await complete(line, env), line).toEqual(['asking']);
  });

  it.each(SHELLS)('script of %s is accepted by the shell', async (shell) => {
    const { stdout } = await run(['completion', shell]);
    const path = join(directory, shell);
    await writeFile(path, stdout);
    const { status, stderr } = spawnSync(shell, ['-n', path], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('in bash quotes hostile names', async () => {
    const { stdout: script } = await run(['completion', 'bash']);
    const candidates = (await run(['__complete', 'rooms', 'get', '--current=it'], { env: stack.environment }))
      .stdout;
    const program = `
      rtc() { printf '%s' "$CANDIDATES"; }
      ${script}
      COMP_WORDS=(rtc rooms get it) COMP_CWORD=3; _rtc
      eval "printf '%s' \${COMPREPLY[0]}"`;
    const { stdout } = spawnSync('bash', ['-c', program], {
      encoding: 'utf8',
      env: { ...process.env, CANDIDATES: candidates },
    });
    expect(stdout).toBe(HOSTILE);
  });

  it('does not offer a room whose name would be read as an option, or shown as another name', async () => {
    const env = stack.environment;
    for (const name of ['--yes', '--url=http://attacker', 'demo\u202etxt']) {
      const body = JSON.stringify({ name });
      expect((await run(['api', 'POST', '/v1/rooms', '--data', body], { env })).code).toBe(0);
    }
    expect(await complete('rooms delete --y')).toEqual(['--yes']);
    expect(await complete('rooms get ')).not.toContain('--yes');
    expect(await complete('rooms get --')).not.toContain('--url=http://attacker');
    expect(await complete('rooms get -- --')).toEqual(['--url=http://attacker', '--yes']);
    expect(await complete('rooms get demo')).toEqual(['demo']);
  });

  it.each([
    ['a list that goes on', ['--events', 'room_started,room_fi'], 'room_started,room_finished'],
    ['a value behind =', ['--role', '=', 'ho'], 'host'],
    ['a name with a colon', ['team', ':', 're'], 'red'],
    ['an open single quote', ["'my ro"], 'my room'],
    ['an open double quote', ['"my ro'], 'my room'],
  ])('in bash completes %s', async (_what, typed, expected) => {
    const { stdout: script } = await run(['completion', 'bash']);
    const candidates = ['room_started,room_finished', '--role=host', 'team:red', 'my room'];
    const program = `
      rtc() {
        local current=\${!#}
        while IFS= read -r each; do [[ $each == "\${current#--current=}"* ]] && echo "$each"; done <<< "$CANDIDATES"
      }
      ${script}
      COMP_WORDS=(rtc x ${typed.map((_word, index) => `"$W${index}"`).join(' ')}) COMP_CWORD=${typed.length + 1}; _rtc
      printf '%s' "\${COMPREPLY[0]}"`;
    const words = Object.fromEntries(typed.map((word, index) => [`W${index}`, word]));
    const { stdout } = spawnSync('bash', ['-c', program], {
      encoding: 'utf8',
      env: { ...process.env, ...words, CANDIDATES: candidates.join('\n') },
    });
    expect(stdout).toBe(expected);
  });

  const quoted = ["'my ro", '"my ro', 'my\\ ro'];
  it.each(quoted)('in zsh asks for the name that %s means', async (typed) => {
    const { stdout: script } = await run(['completion', 'zsh']);
    // zsh removes an open quote from PREFIX by itself.
    const program = `
      compdef() { :; }
      _describe() { :; }
      rtc() { print -r -- "$@" >&3; }
      ${script}
      words=(rtc rooms get "'my flat'" "$TYPED") CURRENT=5 PREFIX=\${TYPED#[\\'\\"]}
      _rtc 3>&1`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', program], {
      encoding: 'utf8',
      env: { ...process.env, TYPED: typed },
    });
    expect([stdout, stderr]).toEqual(['__complete rooms get my flat --current=my ro\n', '']);
  });

  it.each(quoted)('in fish completes %s', async (typed) => {
    const { stdout: script } = await run(['completion', 'fish']);
    const program = `
      function rtc
        test "$argv" = '__complete rooms get my flat --current=my ro'; and echo my room
      end
      ${script}
      complete -C "rtc rooms get 'my flat' $TYPED"`;
    const { stdout } = spawnSync('fish', ['--no-config', '-c', program], {
      encoding: 'utf8',
      env: { ...process.env, TYPED: typed },
    });
    expect(stdout).toBe('my room\n');
  });

  it('of an unknown shell names the known ones', async () => {
    const { code, stderr } = await run(['completion', 'tcsh']);
    expect(code).toBe(2);
    expect(stderr).toContain('bash, zsh, fish, powershell');
  });
});
