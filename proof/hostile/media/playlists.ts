import type { HostileFile } from './files.ts';
import { box, movie, u32 } from './mp4.ts';

/** Places of speech that a recording must not reach: the path of a file, its name without a folder, and a URL. */
export type Plant = { readonly path: string; readonly name: string; readonly url: string };

/** Files that refer to other files and addresses, in every format in which ffmpeg supports such references. */
export function playlists({ path, name, url }: Plant): readonly HostileFile[] {
  const sources = [
    url,
    `file://${path}`,
    path,
    name,
    `concat:${path}|${path}`,
    `subfile,,start,0,end,9999999,,:${path}`,
  ];
  const texts = sources.flatMap((source) => [
    ...Object.entries(FORMATS).map(([format, write]) => ({ format, source, text: write(source) })),
  ]);
  const inline = `data:audio/wav;base64,${Buffer.from('RIFF').toString('base64')}`;
  return [
    ...[...texts, { format: 'HLS', source: inline, text: FORMATS.HLS(inline) }].map(
      ({ format, source, text }, index): HostileFile => ({
        name: `${format} that names ${readKind(source)}`,
        expected: 'recording-not-media',
        make: () => Buffer.from(text),
        ...(index === 0 ? { isQuick: true } : {}),
      }),
    ),
    ...sources.slice(0, 3).map(
      (source): HostileFile => ({
        name: `MOV whose sound is in ${readKind(source)}`,
        expected: 'any',
        make: ({ sound }) =>
          movie({ sound: sound.subarray(0, 2), samples: 80_000, elsewhere: reference(source) }),
      }),
    ),
  ];
}

function readKind(source: string): string {
  if (source.startsWith('/')) return 'an absolute path';
  return /^(http|file|concat|subfile|data)[:,]/.exec(source)?.[1] ?? 'a name';
}

const FORMATS = {
  HLS: (source: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\n${source}\n#EXT-X-ENDLIST\n`,
  'HLS with a key': (source: string) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXT-X-KEY:METHOD=AES-128,URI="${source}"\n#EXTINF:5,\n${source}\n#EXT-X-ENDLIST\n`,
  'a list of ffconcat': (source: string) => `ffconcat version 1.0\nfile '${source}'\n`,
  'a list of ffconcat with options': (source: string) =>
    `ffconcat version 1.0\noption safe 0\noption protocol_whitelist file,http,tcp,data,concat,subfile\nfile '${source}'\n`,
  DASH: (source: string) =>
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT5S"><Period>` +
    `<AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1"><BaseURL>${source}</BaseURL></Representation>` +
    `</AdaptationSet></Period></MPD>`,
  PLS: (source: string) => `[playlist]\nFile1=${source}\nNumberOfEntries=1\n`,
  SDP: (source: string) =>
    `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\na=control:${source}\nm=audio 9 RTP/AVP 0\n`,
  RTSP: (source: string) => `RTSPtextRTSP://${source.replace(/^\w+:\/\//, '')}`,
  SMIL: (source: string) => `<smil><body><audio src="${source}"/></body></smil>`,
  IMF: (source: string) =>
    `<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>${source}</Id></CompositionPlaylist>`,
} as const;

/** A data reference of an MP4 file: the path of a Macintosh alias, or a URL. */
function reference(source: string): Buffer {
  if (!source.startsWith('/')) return box('url ', u32(0), Buffer.from(`${source}\0`));
  const alias = Buffer.alloc(150);
  const path = Buffer.from(source);
  const entry = Buffer.concat([Buffer.from([0, 2, path.length >> 8, path.length & 0xff]), path]);
  return box('alis', u32(0), alias, entry, Buffer.from('ffff0000', 'hex'));
}
