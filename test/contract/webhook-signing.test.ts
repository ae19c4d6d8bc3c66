import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  formatWebhookSecret,
  isBodySignatureValid,
  isStandardSignatureValid,
  signBody,
  signStandard,
  webhookSigningKeys,
} from '../../src/contract/webhook-signing.ts';

const SECRET = formatWebhookSecret(Buffer.alloc(32, 9));
const BODY = '{"event":"room_finished","room":{"name":"Zoë 🎧"}}';

const standard = (secret: string, body = BODY, timestamp = Math.floor(Date.now() / 1000)) => {
  const message = { id: 'evt_1', timestamp, body };
  const headers = {
    'webhook-id': message.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signStandard(message, secret),
  };
  return { message, headers };
};

describe('the specified signature', () => {
  it('is the hex HMAC of the raw body, keyed with the secret as text', () => {
    const expected = createHmac('sha256', SECRET).update(BODY).digest('hex');
    expect(signBody(BODY, SECRET)).toBe(`sha256=${expected}`);
    expect(signBody(Buffer.from(BODY), SECRET)).toBe(`sha256=${expected}`);
  });

  it('is valid only for its body and its secret', () => {
    const signature = signBody(BODY, SECRET);
    expect(isBodySignatureValid(BODY, signature, SECRET)).toBe(true);
    expect(isBodySignatureValid(`${BODY} `, signature, SECRET)).toBe(false);
    expect(isBodySignatureValid(BODY, signature, `${SECRET}x`)).toBe(false);
    for (const other of ['', 'sha256=', signature.slice(7), signature.toUpperCase(), `${signature}0`]) {
      expect(isBodySignatureValid(BODY, other, SECRET)).toBe(false);
    }
  });
});

describe('the signature of Standard Webhooks', () => {
  it('is accepted by the public library', () => {
    const { headers } = standard(SECRET);
    expect(new Webhook(SECRET).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    expect(() => new Webhook(SECRET).verify(`${BODY} `, headers)).toThrow('No matching signature found');
  });

  it('is verified by the service when the public library signs', () => {
    const { message } = standard(SECRET);
    const header = new Webhook(SECRET).sign(message.id, new Date(message.timestamp * 1000), BODY);
    expect(isStandardSignatureValid(message, header, SECRET)).toBe(true);
  });

  it('is one of several while a secret is rotated', () => {
    const { message, headers } = standard(SECRET);
    const next = formatWebhookSecret(Buffer.alloc(32, 10));
    const both = `${signStandard(message, next)} ${headers['webhook-signature']}`;
    for (const secret of [SECRET, next]) {
      expect(isStandardSignatureValid(message, both, secret)).toBe(true);
      expect(new Webhook(secret).verify(BODY, { ...headers, 'webhook-signature': both })).toBeDefined();
    }
    expect(isStandardSignatureValid(message, both, 'another')).toBe(false);
  });

  it('is keyed with the bytes of a secret that is a single byte', () => {
    const { headers } = standard('whsec_YQ==');
    expect(new Webhook('whsec_YQ==').verify(BODY, headers)).toBeDefined();
  });

  it.each(['plain', 'whsec_', 'whsec_not base64', 'whsec_YQ', 'whsec_YWJj=', 'other_YWJj'])(
    'is keyed with the text of a secret of another form: %s',
    (secret) => {
      const { message } = standard(secret);
      const signed = `${message.id}.${message.timestamp}.${BODY}`;
      const expected = createHmac('sha256', secret).update(signed).digest('base64');
      expect(signStandard(message, secret)).toBe(`v1,${expected}`);
    },
  );
});

describe('prepared keys', () => {
  it.each([SECRET, 'plain', 'whsec_not base64'])('sign like their secret: %s', (secret) => {
    const keys = webhookSigningKeys(secret);
    const { message } = standard(secret);
    expect(signBody(BODY, keys)).toBe(signBody(BODY, secret));
    expect(signStandard(message, keys)).toBe(signStandard(message, secret));
  });
});
