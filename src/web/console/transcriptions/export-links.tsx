import { Download } from 'lucide-react';

const FORMATS = [
  { format: 'text', ending: 'txt', name: 'Text' },
  { format: 'md', ending: 'md', name: 'Markdown' },
  { format: 'vtt', ending: 'vtt', name: 'WebVTT' },
  { format: 'srt', ending: 'srt', name: 'SubRip' },
] as const;

type Props = {
  /** Path of the transcript at the service. */
  readonly path: string;
  /** The name of the saved files, without their ending. */
  readonly fileName: string;
};

/** The transcript as files. */
export function ExportLinks({ path, fileName }: Props) {
  return (
    <>
      {FORMATS.map(({ format, ending, name }) => (
        <a
          key={format}
          className="button"
          href={`/api${path}?format=${format}`}
          download={`${fileName}.${ending}`}
          aria-label={`Download as ${name}`}
        >
          <Download aria-hidden /> {name}
        </a>
      ))}
    </>
  );
}
