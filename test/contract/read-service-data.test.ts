import { expect, it } from 'vitest';
import { readAdmission, readClosing } from '../../src/contract/read-service-data.ts';

const ADMISSION = {
  roomId: 'demo',
  token: 'x.y.z',
  url: 'ws://localhost',
  expiresAt: '2026-12-01T09:30:00.000Z',
};
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const FROM_SERVICE = { topic: 'rtc.admitted', participant: undefined, identity: '' };
const read = (sender: object, text = JSON.stringify(ADMISSION)) =>
  readAdmission(encode(text), { ...FROM_SERVICE, ...sender });

it('reads the admission that the service sends', () => {
  expect(read({})).toEqual(ADMISSION);
  expect(
    readAdmission(encode(JSON.stringify(ADMISSION)), { topic: 'rtc.admitted', participant: undefined }),
  ).toEqual(ADMISSION);
});

it.each([
  ['of a participant', { participant: {} }],
  ['of somebody who has just left, whose identity alone is known', { identity: 'mallory' }],
  ['on another topic', { topic: 'rtc.closing' }],
])('does not believe data %s', (_, sender) => {
  expect(read(sender)).toBeUndefined();
});

const CLOSING = { reason: 'closes_at', closesAt: '2026-12-01T09:30:00.000Z', secondsLeft: 300 };
const readWarning = (sender: object, text = JSON.stringify(CLOSING)) =>
  readClosing(encode(text), { ...FROM_SERVICE, topic: 'rtc.closing', ...sender });

it('reads the warning that the service sends before it closes the room', () => {
  expect(readWarning({})).toEqual(CLOSING);
});

it.each([
  ['of a participant', { participant: {} }],
  ['of somebody who has just left, whose identity alone is known', { identity: 'mallory' }],
  ['on another topic', { topic: 'rtc.admitted' }],
])('does not believe a warning %s', (_, sender) => {
  expect(readWarning(sender)).toBeUndefined();
});

it.each([
  '{',
  'null',
  JSON.stringify({ ...CLOSING, secondsLeft: '300' }),
  JSON.stringify({ ...CLOSING, closesAt: undefined }),
  JSON.stringify({ ...CLOSING, reason: 'because' }),
])('takes %j for no warning', (text) => {
  expect(readWarning({}, text)).toBeUndefined();
});

it.each(['', '{', 'null', '[]', '"x"', '{"token":"x.y.z"}'])('takes %j for no admission', (text) => {
  expect(read({}, text)).toBeUndefined();
});
