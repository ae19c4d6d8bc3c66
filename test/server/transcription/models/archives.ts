import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** An entry of an archive: a file with its content, or a link with its target. */
export type ArchiveEntry =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly file: string }
  | { readonly path: string; readonly linkTo: string };

const WRITE = `
import io, json, sys, tarfile
target, entries = sys.argv[1], json.load(sys.stdin)
with tarfile.open(target, 'w:bz2', format=tarfile.PAX_FORMAT) as archive:
    for entry in entries:
        info = tarfile.TarInfo(entry['path'])
        if 'file' in entry:
            archive.add(entry['file'], entry['path'])
            continue
        if 'linkTo' in entry:
            info.type, info.linkname = tarfile.SYMTYPE, entry['linkTo']
            archive.addfile(info)
            continue
        text = entry['text'].encode()
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
`;

/** Writes an archive with Python's tarfile, which also writes malicious ones. */
export function makeArchive(path: string, entries: readonly ArchiveEntry[]): void {
  execFileSync('python3', ['-c', WRITE, path], { input: JSON.stringify(entries) });
}

/** Truncates a file to this share of its length. */
export function cutFile(path: string, bytes: Buffer, share: number): void {
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
}
