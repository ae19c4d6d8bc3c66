import { runPart } from './run-part.ts';

export interface SpokenSentence {
  readonly text: string;
  /** The WAV file to write: 22.05 kHz, mono, 16 bit. */
  readonly path: string;
  /** An espeak-ng voice. Default: en-us. */
  readonly voice?: string;
}

/** Writes a file in which espeak-ng says the sentence. */
export async function speakToFile({ text, path, voice = 'en-us' }: SpokenSentence): Promise<void> {
  const part = runPart({
    name: 'espeak-ng',
    program: 'espeak-ng',
    args: ['-v', voice, '-s', '150', '-w', path, text],
  });
  const status = await part.exited;
  if (status !== 0) throw new Error(`espeak-ng failed with status ${status}:\n${part.output()}`);
}
