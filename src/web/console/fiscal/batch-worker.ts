import { todayInItaly } from '../../../contract/today-in-italy.ts';
import { appendCodes } from './append-codes.ts';
import type { BatchMessage } from './batch-messages.ts';
import { READER_LANGUAGE } from './reader-language.ts';

/* Runs in a worker, so that the page stays responsive. Receives a file, and posts messages about its rows. */

const tell = (message: BatchMessage): void => postMessage(message);

addEventListener('message', async ({ data }: MessageEvent<File>): Promise<void> => {
  try {
    const text = decodeText(new Uint8Array(await data.arrayBuffer()));
    const { summary, csv } = appendCodes(text, {
      asOf: todayInItaly(Date.now()),
      language: READER_LANGUAGE,
      onProgress: (rows) => tell({ kind: 'progress', rows }),
    });
    tell({ kind: 'done', summary, csv: new Blob([...csv], { type: 'text/csv' }) });
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
});

/** Spreadsheets in Italy still write Windows-1252. */
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
