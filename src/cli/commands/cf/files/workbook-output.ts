import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeXlsxStream } from 'hucre/xlsx';
import type { CellValue } from '../../../../people/csv-rows.ts';

/** A workbook that is written while its rows arrive. */
export type WorkbookOutput = {
  readonly row: (values: readonly CellValue[]) => void;
  /** Writes the rows so far, and waits until they are accepted. Rejects with the error of the file. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createWorkbookOutput(file: string, mode: number): WorkbookOutput {
  const channel = new TransformStream<CellValue[][], CellValue[][]>();
  const writer = channel.writable.getWriter();
  const written = pipeline(
    Readable.fromWeb(writeXlsxStream(flatten(channel.readable), { name: 'Sheet1', freezePane: { rows: 1 } })),
    createWriteStream(file, { mode }),
  );
  // The error is reported where the result is awaited.
  written.catch(() => undefined);
  let rows: CellValue[][] = [];
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return;
    const batch = rows;
    rows = [];
    // The channel would wait forever for a file that has failed.
    await Promise.race([writer.write(batch), written]);
  };
  return {
    row: (values) => rows.push([...values]),
    flush,
    close: async () => {
      await flush();
      await Promise.race([writer.close(), written]);
      await written;
    },
  };
}

async function* flatten<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}
