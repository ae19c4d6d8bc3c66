import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/contract/audit.ts';
import { type Run, run } from '../support/run.ts';
import { type Stack, startStack } from '../support/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const rtc = (line: string): Promise<Run> => run(line.split(' '), { env: stack.environment });
const listEntries = async (options: string): Promise<readonly AuditEntry[]> =>
  (JSON.parse((await rtc(`audit list ${options} --json`)).stdout) as { entries: AuditEntry[] }).entries;

describe('audit', () => {
  it('lists who changed what, with the path as it was and the id of what was made', async () => {
    await rtc('rooms create demo');
    await rtc('participants remove demo ada/b --yes');
    const { code, stdout } = await rtc('audit list');
    expect(code).toBe(0);
    const [removal = '', creation = ''] = stdout
      .split('\n')
      .map((line) => line.split('\t').slice(1, 5).join(' | '));
    expect(creation).toBe('root | POST /v1/rooms roomId=demo | 201 | 127.0.0.0/24');
    expect(removal).toBe(
      'root | DELETE /v1/rooms/demo/participants/ada%2Fb | 404 participant-not-found | 127.0.0.0/24',
    );
  });

  it('is narrowed by room, result, request, key and time', async () => {
    await rtc('rooms create other');
    expect((await listEntries('--room other')).map(({ ids }) => ids.roomId)).toEqual(['other']);
    expect((await listEntries('--result refused')).every(({ status }) => status >= 400)).toBe(true);
    const [entry] = await listEntries('--limit 1');
    expect(await listEntries(`--request ${entry?.requestId}`)).toEqual([entry]);
    expect(await listEntries('--key key_none')).toEqual([]);
    expect(await listEntries('--until 1h')).toEqual([]);
    expect((await listEntries('--since 1h --key root')).length).toBeGreaterThan(0);
    expect((await rtc('audit list --result perhaps')).code).toBe(2);
  });
});
