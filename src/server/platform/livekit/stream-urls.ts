import { createHash } from 'node:crypto';

/*
 * URLs to which a recorder sends a stream. The last part of an RTMP URL, and the query of an SRT URL, are keys: whoever has
 * them can broadcast in the name of their owner.
 */

const STREAM_URL = /\b(?:rtmps?|srt):\/\/[^\s"'<>\\]+/gi;

const MASK = '***';

/** Shows where a stream goes, without its key: rtmp://host/app/***, srt://host:port?***. */
export function maskStreamUrl(url: string): string {
  const [, scheme = '', rest = ''] = /^(\w+:\/\/)(.*)$/s.exec(url) ?? [];
  const query = rest.indexOf('?');
  const place = (query < 0 ? rest : rest.slice(0, query)).replace(/^[^/]*@/, '');
  if (/^srt:/i.test(scheme)) return `${scheme}${place}${query < 0 ? '' : `?${MASK}`}`;
  const slash = place.lastIndexOf('/');
  return `${scheme}${slash < 0 ? place : place.slice(0, slash)}/${MASK}`;
}

/** Masks each URL of a stream in a text that is not ours, such as an error of the recorder. */
export function maskStreamUrls(text: string): string {
  return text.replace(STREAM_URL, maskStreamUrl);
}

/** RTMP's URL as LiveKit's egress understands it: host and path, app, key. */
const RTMP = /^(rtmps?:\/\/)(.*\/)(.*\/)(\S*)$/i;

/** A text that LiveKit has shortened already. */
const SHORTENED = /^\{.*\.\.\..*\}$/;

/**
 * Identifies a URL by the form in which LiveKit lists it, which has only the first and the last characters of a key. It is
 * hashed, so that what is stored beside the encrypted URL says nothing about it.
 */
export function fingerprintStreamUrl(url: string): string {
  return createHash('sha256').update(shortenKeys(url)).digest('base64url').slice(0, 16);
}

function shortenKeys(url: string): string {
  const [, scheme, path, app, key] = RTMP.exec(url) ?? [];
  if (key !== undefined) return `${scheme}${path}${app}${SHORTENED.test(key) ? key : shorten(key)}`;
  // LiveKit's egress shows URLs of SRT as they are, and its server without the values of their queries.
  return url.replace(/([?&][^=&]+=)[^&]+/g, '$1{...}');
}

/** As RedactIdentifier in livekit/protocol does it. */
function shorten(key: string): string {
  const length = Math.min(3, Math.floor(Buffer.byteLength(key) / 3));
  return `{${key.slice(0, length)}...${length === 0 ? '' : key.slice(-length)}}`;
}
