import {
  EncodedFileOutput,
  EncodedFileType,
  type RoomCompositeOptions,
  S3Upload,
  WebhookConfig,
} from 'livekit-server-sdk';
import type { BucketSettings, RoomCompositeRequest } from './media-server.ts';

/** One MP4 file, in the bucket or on the recorder's own file system. */
export function toFileOutput(request: RoomCompositeRequest): EncodedFileOutput {
  return new EncodedFileOutput({
    fileType: EncodedFileType.MP4,
    filepath: request.filepath,
    // The recorder's JSON manifest next to the file would remain when a recording is deleted.
    disableManifest: true,
    ...(request.bucket !== undefined && { output: { case: 's3', value: toS3Upload(request.bucket) } }),
  });
}

/** `signingKey` is the name of one of the media server's keys, with whose secret it signs. */
export function toRoomCompositeOptions(request: RoomCompositeRequest, apiKey: string): RoomCompositeOptions {
  if (request.webhookUrl === undefined) return {};
  return { webhooks: [new WebhookConfig({ url: request.webhookUrl, signingKey: apiKey })] };
}

function toS3Upload(bucket: BucketSettings): S3Upload {
  return new S3Upload({
    bucket: bucket.bucket,
    region: bucket.region,
    accessKey: bucket.accessKey,
    secret: bucket.secretKey,
    endpoint: bucket.endpoint ?? '',
    forcePathStyle: bucket.forcePathStyle,
  });
}
