import { dirname } from 'node:path';
import { shellQuote } from '../../contract/shell-quote.ts';
import { codeOfError, readMembers } from '../../contract/unknown-value.ts';
import { CliError, EXIT, type ExitCode } from './cli-error.ts';

export type FileUse = {
  /** Path as the user gave it; by default the path of the error. */
  readonly path?: string;
  readonly doing: 'read' | 'written' | 'used';
  /** Default usage, because the user named the file. */
  readonly exitCode?: ExitCode;
};

type SystemError = Error & { readonly code: string; readonly path?: string };

/** Returns whether an error comes from the file system, and is no bug of ours. */
export function isFileError(error: unknown): error is SystemError {
  if (!(error instanceof Error)) return false;
  const { code, path } = readMembers(error);
  return typeof code === 'string' && (typeof path === 'string' || FULL.has(code));
}

/** Describes a file that cannot be used and what to do about it, without its content. */
export function fileError(cause: unknown, { path, doing, exitCode = EXIT.usage }: FileUse): CliError {
  const { path: own } = readMembers(cause);
  const file = path ?? (typeof own === 'string' ? own : 'the output');
  const [message, next] = describeErrorCode(codeOfError(cause) ?? '', file, doing);
  return new CliError(exitCode, message, { next, cause });
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

function describeErrorCode(
  code: string,
  file: string,
  doing: FileUse['doing'],
): readonly [message: string, next: string] {
  const failed = `${file} cannot be ${doing}`;
  if (FULL.has(code)) return [`${failed}: the disk is full`, 'free some space, then run it again'];
  switch (code) {
    case 'ENOENT':
      return doing === 'written'
        ? [`${failed}: its folder does not exist`, `make it: mkdir -p ${shellQuote(dirname(file))}`]
        : [
            `${failed}: there is no such file`,
            'correct the path; a relative one starts at the current folder',
          ];
    case 'EISDIR':
      return [`${failed}: it is a directory`, 'name a file'];
    case 'ENOTDIR':
      return [`${failed}: a part of its path is not a directory`, 'correct the path'];
    case 'EACCES':
    case 'EPERM':
      return [`${failed}: permission denied`, `look at its owner and mode: ls -ld ${shellQuote(file)}`];
    case 'EROFS':
      return [`${failed}: the file system is read-only`, 'name a file somewhere else'];
    default:
      return [`${failed}${code === '' ? '' : ` (${code})`}`, `look at it: ls -ld ${shellQuote(file)}`];
  }
}
