import {
  EncodedFileOutput,
  EncodedFileType,
  EncodingOptions,
  EncodingOptionsPreset,
  type RoomCompositeOptions,
  S3Upload,
  WebhookConfig,
} from 'livekit-server-sdk';
import type { RecordingPreset } from '../../../contract/choices.ts';
import type { BucketSettings, RoomCompositeRequest } from './media-server.ts';

/** Requests one MP4 file, in the bucket or on the recorder's own file system. */
export function toFileOutput(request: RoomCompositeRequest): EncodedFileOutput {
  return new EncodedFileOutput({
    fileType: EncodedFileType.MP4,
    filepath: request.filepath,
    // The recorder's JSON manifest next to the file would remain when a recording is deleted.
    disableManifest: true,
    ...(request.bucket !== undefined && { output: { case: 's3', value: toS3Upload(request.bucket) } }),
  });
}

/** `signingKey` is the name of one of the media server's keys, whose secret signs the events. */
export function toRoomCompositeOptions(request: RoomCompositeRequest, apiKey: string): RoomCompositeOptions {
  const { webhookUrl, settings = {} } = request;
  const { layout, audioOnly, preset } = settings;
  return {
    ...(layout !== undefined && { layout }),
    ...(audioOnly !== undefined && { audioOnly }),
    ...(preset !== undefined && { encodingOptions: toEncodingOptions(preset) }),
    ...(webhookUrl !== undefined && {
      webhooks: [new WebhookConfig({ url: webhookUrl, signingKey: apiKey })],
    }),
  };
}

/**
 * H264_720P_30 is 0 in the protocol, which the SDK takes for no preset. Its options are written out, so that a recorder with
 * another default records what was requested.
 */
function toEncodingOptions(preset: RecordingPreset): EncodingOptions | EncodingOptionsPreset {
  if (preset !== 'H264_720P_30') return EncodingOptionsPreset[preset];
  return new EncodingOptions({ width: 1280, height: 720, framerate: 30, videoBitrate: 3000 });
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
