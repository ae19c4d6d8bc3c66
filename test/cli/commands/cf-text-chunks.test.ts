import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../src/cli/commands/cf/files/batch.ts';
import { eachTableRow } from '../../../src/cli/commands/cf/files/each-table-row.ts';
import type { Context } from '../../../src/cli/framework/context.ts';

describe('a table whose bytes arrive one by one', () => {
  it.each([
    ['UTF-16 with its mark', Buffer.from('\ufeffid;città\n', 'utf16le'), 'UTF-16LE'],
    ['UTF-8', Buffer.from('id;città\n'), 'UTF-8'],
    ['Windows-1252', Buffer.from('id;città\n', 'latin1'), 'Windows-1252'],
    ['one byte', Buffer.from('1'), 'UTF-8'],
  ])('is read as %s', async (_what, bytes, encoding) => {
    const { rows, description } = await read(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    expect(rows).toEqual([bytes.length === 1 ? ['1'] : ['id', 'città']]);
    expect(description).toContain(encoding);
  });

  it('is read when the first piece is empty', async () => {
    const bytes = Buffer.from('\ufeffid;città\n', 'utf16le');
    expect((await read([new Uint8Array(0), bytes])).rows).toEqual([['id', 'città']]);
  });
});

async function read(chunks: readonly Uint8Array[]) {
  const rows: (readonly string[])[] = [];
  let describeTable = (): string => '';
  const source = {
    chunks: (async function* () {
      yield* chunks;
    })(),
    sizeBytes: undefined,
    bytesRead: () => 0,
    signal: new AbortController().signal,
    close: async () => {},
  };
  const context = { terminal: { isQuiet: true } } as unknown as Context;
  await eachTableRow(context, { pause: async () => {} } as unknown as Batch, {
    ...{ source, language: 'en', delimiter: ';', sheet: undefined, isHeader: () => false },
    begin: async ({ describe }) => {
      describeTable = describe;
      return ({ cells }) => void rows.push(cells);
    },
  });
  return { rows, description: describeTable() };
}
