/** How a sample of each language runs from a file. */
export type SampleLanguage = {
  readonly program: string;
  readonly file: string;
  readonly args: (file: string) => readonly string[];
};

/** By the labels of the reference. */
export const SAMPLE_LANGUAGES: Readonly<Record<string, SampleLanguage>> = {
  curl: { program: 'bash', file: 'sample.sh', args: (file) => ['-e', file] },
  rtc: { program: 'bash', file: 'sample.sh', args: (file) => [file] },
  TypeScript: { program: process.execPath, file: 'sample.ts', args: (file) => [file] },
  Python: { program: 'python3', file: 'sample.py', args: (file) => [file] },
  Go: { program: 'go', file: 'main.go', args: (file) => ['run', file] },
  PHP: { program: 'php', file: 'sample.php', args: (file) => [file] },
  Java: { program: 'java', file: 'Sample.java', args: (file) => [file] },
};
