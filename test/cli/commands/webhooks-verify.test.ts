import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signStandard } from '../../../src/contract/webhook-signing.ts';
import { type Run, type RunOptions, run } from '../support/run.ts';

/** The example of https://github.com/standard-webhooks/standard-webhooks that its libraries use in their tests. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

const SECRET = 'whsec_TtTMz6VfQpicV708Z7AHeXVsSWlyIVJDzlTFKE+kstU=';
const NOW_SECONDS = 1_800_000_000;
const BODY = '{"event":"room_started","id":"evt_1"}';

const specified = (body: string, secret: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** Returns headers that are signed by the public library and by this test, not by the code under test. */
function signedHeaders(secret = SECRET, timestamp = NOW_SECONDS): Record<string, string> {
  return {
    'X-Service-Webhook-Event': 'room_started',
    'X-Service-Webhook-Signature': specified(BODY, secret),
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': new Webhook(secret).sign('evt_1', new Date(timestamp * 1000), BODY),
  };
}

type Checked = {
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly secret?: string;
};

async function verify(
  checked: Checked,
  words: readonly string[] = [],
  options: RunOptions = {},
): Promise<Run> {
  const { headers = signedHeaders(), body = BODY, secret = SECRET } = checked;
  const parts = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  return run(['webhooks', 'verify', '--body', body, ...parts, ...words], {
    clock: () => NOW_SECONDS * 1000 + 999,
    env: { RTC_WEBHOOK_SECRET: secret },
    ...options,
  });
}

/** Returns a row for each of the two headers: result and reason. */
async function verdicts(checked: Checked, words: readonly string[] = []): Promise<readonly string[]> {
  const { code, stdout } = await verify(checked, words);
  const rows = stdout
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.replace(/^[^\t]+\t/, ''));
  expect(code).toBe(rows.some((row) => row.startsWith('mismatch')) ? 7 : 0);
  return rows;
}

const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(signedHeaders()).filter(([each]) => each !== name));

describe('webhooks verify', () => {
  it('accepts a request that is signed with both', async () => {
    expect(await verify({})).toEqual({
      code: 0,
      stdout: 'x-service-webhook-signature\tmatch\t\nwebhook-signature\tmatch\t\n',
      stderr: '',
    });
  });

  it('agrees with the published example of Standard Webhooks', async () => {
    const { secret, id, timestamp, body, signature } = VECTOR;
    expect(signStandard({ id, timestamp, body }, secret)).toBe(signature);
    const headers = { 'webhook-id': id, 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signature };
    const [absent, standard] = await verdicts({ headers, body, secret }, ['--any-age']);
    expect([absent, standard]).toEqual(['absent\tthere is no such header', 'match\t']);
  });

  it.each([
    ['another body', { body: BODY.replace('started', 'Started') }],
    ['another secret', { secret: 'whsec_AAAAz6VfQpicV708Z7AHeXVsSWlyIVJDzlTFKE+kstU=' }],
  ])('refuses %s, without knowing which secret it is', async (_what, checked) => {
    const reason = 'mismatch\tanother secret signed it, or the body is not the one that was signed';
    expect(await verdicts(checked)).toEqual([reason, reason]);
  });

  it.each([
    [
      'begins like a signature',
      { secret: `v1,${SECRET}` },
      'the secret begins with v1, as only signatures do',
    ],
    ['lacks its beginning', { secret: SECRET.slice(6) }, 'the secret lacks its beginning, whsec_'],
    ['has a space', { secret: ` ${SECRET}` }, 'the secret is given with spaces or quotes around it'],
    ['has quotes', { secret: `"${SECRET}"` }, 'the secret is given with spaces or quotes around it'],
    ['is the mask', { secret: '***' }, 'the secret is the mask *** that lists show'],
    [
      'came with a line end',
      { body: `${BODY}\n` },
      'the body has a line end more than the one that was signed',
    ],
    [
      'was written again',
      { body: JSON.stringify(JSON.parse(BODY), undefined, 2) },
      'the body was changed: parsed and written again; the raw bytes are signed',
    ],
  ])('reports that the secret or the body %s', async (_what, checked, reason) => {
    expect(await verdicts(checked)).toEqual([`mismatch\t${reason}`, `mismatch\t${reason}`]);
  });

  it.each([
    [-301, 'mismatch'],
    [-300, 'match'],
    [300, 'match'],
    [301, 'mismatch'],
  ])('classifies a timestamp %i s away as a %s', async (offset, result) => {
    const headers = signedHeaders(SECRET, NOW_SECONDS + offset);
    const [first, second] = await verdicts({ headers });
    expect(first).toBe('match\t');
    expect(second?.split('\t')[0]).toBe(result);
    if (result === 'mismatch') expect(second).toMatch(/5m 1s (?:old|ahead of this clock) .*itself is right/);
    expect(await verdicts({ headers }, ['--any-age'])).toEqual(['match\t', 'match\t']);
  });

  it.each([
    ['webhook-id', 'evt_2', /^mismatch\tsecret and body are right: webhook-id,/],
    ['webhook-timestamp', `${NOW_SECONDS - 1}`, /^mismatch\tsecret and body are right/],
    ['webhook-timestamp', 'now', /^mismatch\twebhook-timestamp is not a Unix time/],
    ['webhook-signature', 'v1a,AAAA', /^mismatch\tit has no signature of version v1/],
  ])('reports that %s was changed to %s', async (name, value, reason) => {
    const [first, second] = await verdicts({ headers: { ...signedHeaders(), [name]: value } });
    expect(first).toBe('match\t');
    expect(second).toMatch(reason);
  });

  it.each(['webhook-id', 'webhook-timestamp'])('reports that %s is missing', async (name) => {
    expect((await verdicts({ headers: without(name) }))[1]).toBe(
      `mismatch\t${name} is missing, which is signed too`,
    );
  });

  it.each([
    ['sha256=00', /^mismatch\tit is not of the form/],
    [specified(BODY, SECRET).toUpperCase(), /^mismatch\tit is not of the form/],
    [specified('x', SECRET), /^mismatch\tsecret and body are right: this header was changed/],
  ])('explains what is wrong with X-Service-Webhook-Signature: %s', async (value, reason) => {
    const [first, second] = await verdicts({
      headers: { ...signedHeaders(), 'X-Service-Webhook-Signature': value },
    });
    expect(first).toMatch(reason);
    expect(second).toBe('match\t');
  });

  it('recognises a rotation, verified with the old secret', async () => {
    const renewed = signedHeaders('whsec_AAAAz6VfQpicV708Z7AHeXVsSWlyIVJDzlTFKE+kstU=');
    const both = `${renewed['webhook-signature']} ${signedHeaders()['webhook-signature']}`;
    expect(await verdicts({ headers: { ...renewed, 'webhook-signature': both } })).toEqual([
      'mismatch\tthe secret was rotated: this header is signed with the new one only',
      'match\t',
    ]);
  });

  it('accepts one header of the two', async () => {
    expect(await verdicts({ headers: without('webhook-signature') })).toEqual([
      'match\t',
      'absent\tthere is no such header',
    ]);
  });

  it('ends with 7 when neither header is present', async () => {
    expect((await verify({ headers: { 'webhook-id': 'evt_1' } })).code).toBe(7);
  });

  it('warns when the event of the header is not the event of the body', async () => {
    const headers = { ...signedHeaders(), 'X-Service-Webhook-Event': 'room_finished' };
    const { code, stderr } = await verify({ headers });
    expect(code).toBe(0);
    expect(stderr).toContain('says room_finished, but the body says room_started; the header is not signed');
  });

  it('uses the text of a secret of another form as the key', async () => {
    const secret = 'not-base64';
    const standard = createHmac('sha256', secret).update(`evt_1.${NOW_SECONDS}.${BODY}`).digest('base64');
    const headers = {
      ...signedHeaders(),
      'X-Service-Webhook-Signature': specified(BODY, secret),
      'webhook-signature': `v1,${standard}`,
    };
    expect(await verdicts({ headers, secret })).toEqual(['match\t', 'match\t']);
  });

  it('prints a verdict for programs', async () => {
    const { stdout } = await verify({ body: 'x' }, ['--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      signatures: [
        { header: 'x-service-webhook-signature', result: 'mismatch' },
        { header: 'webhook-signature' },
      ],
    });
  });
});

describe('webhooks verify reads', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-verify-'));
    const lines = Object.entries(signedHeaders()).map(([name, value]) => `${name}: ${value}`);
    await writeFile(
      join(folder, 'request.txt'),
      `POST /hook HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${BODY}`,
    );
    await writeFile(join(folder, 'headers.txt'), `${lines.join('\n')}\n`);
    await writeFile(join(folder, 'headers.json'), JSON.stringify(signedHeaders()));
    await writeFile(join(folder, 'body.json'), BODY);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const read = (words: string, options: RunOptions = {}): Promise<Run> =>
    run(['webhooks', 'verify', ...words.split(' ')], {
      clock: () => NOW_SECONDS * 1000,
      env: { RTC_WEBHOOK_SECRET: SECRET },
      workingDirectory: folder,
      ...options,
    });

  it.each([
    '--request @request.txt',
    '--headers @headers.txt --body @body.json',
    '--headers @headers.json --body @body.json',
  ])('%s', async (words) => {
    expect((await read(words)).code).toBe(0);
  });

  it('the secret from stdin, and the request from stdin', async () => {
    const secret = await read('--request @request.txt --secret-stdin', { env: {}, stdin: `${SECRET}\n` });
    expect(secret.code).toBe(0);
    const lines = Object.entries(signedHeaders()).map(([name, value]) => `${name}: ${value}`);
    expect((await read('--request -', { stdin: `${lines.join('\n')}\n\n${BODY}` })).code).toBe(0);
  });

  it.each([
    ['--body @body.json', 'missing --header'],
    ['--headers @headers.txt', 'missing --body'],
    ['--headers @absent.txt --body @body.json', 'absent.txt cannot be read'],
    ['--header nonsense --body x', '--header "nonsense" is not a header'],
    ['--request nonsense', '--request has no empty line'],
  ])('%s: %s', async (words, message) => {
    const { code, stdout, stderr } = await read(words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it('no secret when neither stdin nor the environment has one', async () => {
    const { code, stderr } = await read('--request @request.txt', { env: {} });
    expect(code).toBe(2);
    expect(stderr).toContain('set RTC_WEBHOOK_SECRET');
  });
});
