import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  checkFileLink,
  deriveLinkKeys,
  type LinkKeys,
  signFileLink,
} from '../../../../src/server/recordings/files/file-link.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NOW = 1_767_225_600_000;
const [older, newer] = [randomBytes(32), randomBytes(32)];

function makeLink(path: string) {
  const url = new URL(path, 'http://x');
  return {
    id: decodeURIComponent(url.pathname.split('/')[2] ?? ''),
    expires: Number(url.searchParams.get('expires')),
    signature: url.searchParams.get('signature') ?? '',
  };
}

const first = () => 0;

describe('a link to a file', () => {
  it('is valid until the second at which it expires', () => {
    const clock = new ManualClock(NOW);
    const deps = { clock, linkKeys: deriveLinkKeys([older], first) };
    const link = makeLink(signFileLink(deps, 'rec_1', 60));
    clock.advance(59_999);
    expect(() => checkFileLink(deps, link)).not.toThrow();
    clock.advance(1);
    expect(() => checkFileLink(deps, link)).toThrow(/expired at 2026-01-01T00:01:00.000Z/);
  });

  it('reveals nothing about its expiry when it was changed', () => {
    const clock = new ManualClock(NOW);
    const deps = { clock, linkKeys: deriveLinkKeys([older], first) };
    const link = makeLink(signFileLink(deps, 'rec_1', 60));
    clock.advance(60_000);
    expect(() => checkFileLink(deps, { ...link, id: 'rec_2' })).toThrow(/signature/);
  });

  it('stays valid when keys are rotated, until its key is dropped', () => {
    const clock = new ManualClock(NOW);
    const link = makeLink(signFileLink({ clock, linkKeys: deriveLinkKeys([older], first) }, 'rec_1', 60));
    const check = (linkKeys: LinkKeys) => checkFileLink({ clock, linkKeys }, link);
    expect(() => check(deriveLinkKeys([newer, older], first))).not.toThrow();
    expect(() => check(deriveLinkKeys([newer], first))).toThrow(/signature/);
  });

  it('is not signed with the encryption key itself', () => {
    expect(deriveLinkKeys([older], first).all[0]?.equals(older)).toBe(false);
  });
});
