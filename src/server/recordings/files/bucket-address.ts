/** Where a bucket is reached; `endpoint` undefined means AWS itself. */
export type BucketAddress = {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string | undefined;
  /** The bucket in the path, not in the host name. */
  readonly forcePathStyle: boolean;
};

/** URL of an object. Its key is encoded as a whole: one that holds `%2F` or `?` names what it names. */
export function objectUrl(address: BucketAddress, key: string): string {
  const { bucket, region, endpoint, forcePathStyle } = address;
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  if (!forcePathStyle) url.host = `${bucket}.${url.host}`;
  const parts = forcePathStyle ? [bucket, ...key.split('/')] : key.split('/');
  const path = parts.map(encodePart).join('/');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}/${path}`;
}

/** RFC 3986, which is what AWS signs: encodeURIComponent leaves five characters as they are. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
