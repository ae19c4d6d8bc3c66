import { basename, join } from 'node:path';

type Program = { readonly program: string; readonly args: readonly string[] };

/** How to run the samples of a language. Each one is a file with this name in its own folder. */
export type SampleLanguage = {
  readonly file: string;
  /** @param folder The folder of the sample. */
  readonly run: (folder: string) => Program;
  /**
   * Compiles the samples of all operations at once, in the folder that contains theirs, because a compiler takes longer to
   * start than to compile one.
   */
  readonly compile?: Program;
};

const COMPILE_SAMPLES = join(import.meta.dirname, 'CompileSamples.java');

/** Languages by their labels in the reference. */
export const SAMPLE_LANGUAGES: Readonly<Record<string, SampleLanguage>> = {
  curl: {
    file: 'sample.sh',
    run: (folder) => ({ program: 'bash', args: ['-e', join(folder, 'sample.sh')] }),
  },
  rtc: { file: 'sample.sh', run: (folder) => ({ program: 'bash', args: ['-e', join(folder, 'sample.sh')] }) },
  TypeScript: {
    file: 'sample.ts',
    run: (folder) => ({ program: process.execPath, args: [join(folder, 'sample.ts')] }),
  },
  Python: { file: 'sample.py', run: (folder) => ({ program: 'python3', args: [join(folder, 'sample.py')] }) },
  Go: {
    file: 'main.go',
    run: (folder) => ({ program: join(folder, '../bin', basename(folder)), args: [] }),
    compile: {
      program: 'bash',
      args: ['-ec', 'go mod init samples && go build -ldflags=-s -o bin/ ./...'],
    },
  },
  PHP: { file: 'sample.php', run: (folder) => ({ program: 'php', args: [join(folder, 'sample.php')] }) },
  Java: {
    file: 'Sample.java',
    run: (folder) => ({ program: 'java', args: ['-cp', folder, 'Sample'] }),
    compile: { program: 'java', args: [COMPILE_SAMPLES, '.'] },
  },
};
