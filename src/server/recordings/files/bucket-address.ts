/** Address of a bucket. Without `endpoint` it is at AWS. */
export type BucketAddress = {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint: string | undefined;
  /** Whether the bucket is in the path and not in the host name. */
  readonly forcePathStyle: boolean;
};

/** URL of an object. The whole key is encoded, so that `%2F` and `?` in it are part of its name. */
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
