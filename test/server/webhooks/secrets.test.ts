import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/server/platform/clock.ts';
import { createSecretBox, readEncryptionKey } from '../../../src/server/platform/secrets/encryption-keys.ts';
import { SETTLED_MS } from '../../../src/server/platform/secrets/key-rotation.ts';
import { collectingLog, type LogLine } from '../../support/app.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { LOOPBACK_ALLOWED, register } from './support/hooked-service.ts';
import { postMediaEvent, roomFinished } from './support/media-webhook.ts';
import { expectedSignatures, type Receiver, startReceiver } from './support/receiver.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'rtc-secrets-'));
  cleanUps.push(() => rm(path, { recursive: true }));
  return path;
}

async function serviceIn(
  dataDir: string,
  environment: TestServiceOptions['environment'] = {},
  clock: Clock = systemClock,
): Promise<TestService> {
  const settings = { ...LOOPBACK_ALLOWED, DATA_DIR: dataDir, ...environment };
  const service = await startTestService({ environment: settings, clock });
  cleanUps.push(service.close);
  return service;
}

async function receiverFor(): Promise<Receiver> {
  const receiver = await startReceiver();
  cleanUps.push(receiver.close);
  return receiver;
}

const newKey = () => randomBytes(32).toString('base64');

/** Returns the secret itself, its bytes in hex and base64url, and its forms in JSON and URLs. */
function listForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return [
    secret,
    secret.slice(6),
    bytes.toString('hex'),
    bytes.toString('base64url'),
    encodeURIComponent(secret),
  ];
}

describe('a secret', () => {
  it('cannot be read after its creation in any response, log line or file', async () => {
    const dataDir = await folder();
    const service = await serviceIn(dataDir, { LOG_LEVEL: 'debug' });
    const receiver = await receiverFor();
    const { id, secret } = await register(service, receiver.url);
    const given = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    await service.call('PUT', `/v1/webhooks/${id}`, { body: { secret: given } });
    await postMediaEvent(service.url, roomFinished('one'));
    await receiver.waitFor(() => true);
    receiver.behave((request) => void request.socket.destroy());
    await service.call('POST', `/v1/webhooks/${id}/test`);
    const responses = [
      await service.call('GET', '/v1/webhooks'),
      await service.call('GET', `/v1/webhooks/${id}`),
      await service.call('PATCH', `/v1/webhooks/${id}`, { body: { events: ['*'] } }),
      await service.call('GET', `/v1/webhooks/${id}/deliveries`),
      await service.call('GET', '/v1/events'),
      await service.call('PUT', `/v1/webhooks/${id}`, { body: { secret: `${given} with a space` } }),
      await service.call('PUT', `/v1/webhooks/${id}`, { body: { secret: given, url: 'bad' } }),
      await service.call('PUT', `/v1/webhooks/${id}`, { body: `{"secret":"${given}",}` }),
    ];
    await service.stop();
    const files = await readdir(dataDir);
    expect(files).toContain('rtc.sqlite');
    const contents = await Promise.all(files.map((file) => readFile(join(dataDir, file), 'latin1')));
    const haystack = [
      ...responses.map((answered) => answered.text),
      JSON.stringify(service.logLines, (_key, value) =>
        value instanceof Error ? `${value.stack} ${JSON.stringify({ ...value })} ${value.cause}` : value,
      ),
      ...contents,
    ].join('\n');
    for (const form of [...listForms(secret), ...listForms(given)]) expect(haystack).not.toContain(form);
    // Shows that the search would find a text that is present.
    expect(haystack).toContain(id);
  });

  it('continues to sign while the encryption key is rotated, and after the old key was dropped', async () => {
    const dataDir = await folder();
    const [first, second] = [newKey(), newKey()];
    const receiver = await receiverFor();
    const before = await serviceIn(dataDir, { ENCRYPTION_KEY: first });
    const old = await register(before, `${receiver.url}/old`);
    await before.stop();
    const clock = new SkippableClock();
    const both = await serviceIn(dataDir, { ENCRYPTION_KEY: `${second},${first}` }, clock);
    const young = await register(both, `${receiver.url}/young`);
    await postMediaEvent(both.url, roomFinished('both'));
    for (const received of await receiver.waitFor(() => true, 2)) {
      const { secret } = received.path === '/old' ? old : young;
      expect(received.headers['x-service-webhook-signature']).toBe(
        expectedSignatures(received, secret).specified,
      );
    }
    const isSealedAnew = ({ message }: { readonly message: string }) =>
      message.startsWith('encrypted stored secrets');
    expect(both.logLines.filter(isSealedAnew)).toEqual([]);
    clock.skip(SETTLED_MS);
    await expect.poll(() => both.logLines.filter(isSealedAnew)).toMatchObject([{ fields: { webhooks: 1 } }]);
    await both.stop();
    const after = await serviceIn(dataDir, { ENCRYPTION_KEY: second });
    for (const { id, secret } of [old, young]) {
      await after.call('POST', `/v1/webhooks/${id}/test`);
      const tested = receiver.received.at(-1) ?? expect.unreachable();
      expect(tested.headers['webhook-signature']).toBe(expectedSignatures(tested, secret).standard);
    }
    expect(receiver.received).toHaveLength(4);
  });

  it('that cannot be decrypted refuses a test with the reason, and can be replaced at once', async () => {
    const dataDir = await folder();
    const receiver = await receiverFor();
    const before = await serviceIn(dataDir, { ENCRYPTION_KEY: newKey() });
    const { id } = await register(before, receiver.url);
    await before.stop();
    const after = await serviceIn(dataDir, { ENCRYPTION_KEY: newKey() });
    const { status, json } = await after.call('POST', `/v1/webhooks/${id}/test`);
    expect([status, json]).toMatchObject([503, { detail: expect.stringContaining('ENCRYPTION_KEY') }]);
    const secret = `whsec_${Buffer.alloc(32, 6).toString('base64')}`;
    expect((await after.call('PUT', `/v1/webhooks/${id}`, { body: { secret } })).status).toBe(200);
    expect((await after.call('POST', `/v1/webhooks/${id}/test`)).json).toMatchObject({ delivered: true });
    const [received] = receiver.received;
    expect(received?.headers['webhook-signature']).toBe(
      expectedSignatures(received ?? expect.unreachable(), secret).standard,
    );
  });
});

describe('an encrypted secret', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)] as const;

  it('is decrypted by its key, in any position, and by no other', () => {
    const sealed = createSecretBox([key]).seal('geheim', 'wh_1');
    expect(createSecretBox([other, key]).open(sealed, 'wh_1')).toBe('geheim');
    expect(() => createSecretBox([other]).open(sealed, 'wh_1')).toThrow('ENCRYPTION_KEY');
  });

  it('is decrypted only for its own webhook', () => {
    const box = createSecretBox([key]);
    const sealed = box.seal('geheim', 'wh_1');
    expect(() => box.open(sealed, 'wh_2')).toThrow('cannot be decrypted');
  });

  it('differs each time, and is invalid when a bit of it is changed', () => {
    const box = createSecretBox([key]);
    const sealed = box.seal('geheim', 'wh_1');
    expect(box.seal('geheim', 'wh_1')).not.toBe(sealed);
    const [version = '', id = '', text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => box.open([version, id, changed.toString('base64url')].join('.'), 'wh_1')).toThrow(
        'cannot be decrypted',
      );
    }
    for (const broken of ['', 'v2', `v3.${id}.${text}`, `v2.${id}.`, `v2.${id}.AAAA`]) {
      expect(() => box.open(broken, 'wh_1')).toThrow('cannot be decrypted');
    }
  });
});

describe('the key file', () => {
  it('is created once, for its owner alone', async () => {
    const dataDir = join(await folder(), 'data');
    const lines: LogLine[] = [];
    const key = readEncryptionKey(dataDir, collectingLog(lines));
    expect(readEncryptionKey(dataDir, collectingLog(lines))).toEqual(key);
    expect(lines).toEqual([]);
    expect((await stat(join(dataDir, 'encryption.key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['encryption.key']);
  });

  it('is never read half written by a process that starts at the same moment', async () => {
    const { Worker } = await import('node:worker_threads');
    const dataDir = await folder();
    const script = new URL('./support/read-key.ts', import.meta.url);
    for (let round = 0; round < 10; round += 1) {
      const gate = new Int32Array(new SharedArrayBuffer(4));
      const workerData = { dataDir: join(dataDir, `${round}`), gate };
      const workers = Array.from({ length: 4 }, () => new Worker(script, { workerData }));
      const keys = workers.map(
        (worker) =>
          new Promise((resolve, reject) => {
            worker.on('message', (message) => (message === 'ready' ? undefined : resolve(message)));
            worker.on('error', reject);
          }),
      );
      await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
      expect(new Set(await Promise.all(keys)).size).toBe(1);
    }
  });

  it.each([0o640, 0o604])(
    'that others may read by its mode %o causes a warning, and is read',
    async (mode) => {
      const dataDir = await folder();
      const key = readEncryptionKey(dataDir, collectingLog([]));
      await chmod(join(dataDir, 'encryption.key'), mode);
      const lines: LogLine[] = [];
      expect(readEncryptionKey(dataDir, collectingLog(lines))).toEqual(key);
      expect(lines).toMatchObject([{ level: 'warn', fields: { path: join(dataDir, 'encryption.key') } }]);
      // Windows does not have such file modes.
      expect(readEncryptionKey(dataDir, collectingLog(lines), 'win32')).toEqual(key);
      expect(lines).toHaveLength(1);
    },
  );

  it('with other content stops the start', async () => {
    const dataDir = await folder();
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(dataDir, 'encryption.key'), 'short');
    expect(() => readEncryptionKey(dataDir, collectingLog([]))).toThrow('does not contain a key of 32 bytes');
  });
});
