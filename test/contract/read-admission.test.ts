import { expect, it } from 'vitest';
import { readAdmission } from '../../src/contract/read-admission.ts';

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

it.each(['', '{', 'null', '[]', '"x"', '{"token":"x.y.z"}'])('takes %j for no admission', (text) => {
  expect(read({}, text)).toBeUndefined();
});
