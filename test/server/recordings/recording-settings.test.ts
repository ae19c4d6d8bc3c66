import { randomUUID } from 'node:crypto';
import { EgressClient, EncodingOptionsPreset } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECORDING_LAYOUTS, RECORDING_PRESETS } from '../../../src/contract/choices.ts';
import type { RecordingStart } from '../../../src/contract/recordings.ts';
import { MEDIA_KEYS, type Stage, startStage } from './support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.close());

const start = async (body?: object) => {
  const room = `settings-${randomUUID()}`;
  await stage.service.call('POST', '/v1/rooms', { body: { name: room } });
  return await stage.service.call('POST', `/v1/rooms/${room}/recording/start`, body && { body });
};

/** Returns the request that the media server received. */
async function asked(body?: object) {
  const response = await start(body);
  expect(response.status, response.text).toBe(201);
  const { egressId } = response.json as RecordingStart;
  const { apiKey, apiSecret } = MEDIA_KEYS;
  const [egress] = await new EgressClient(stage.media.url, apiKey, apiSecret).listEgress({ egressId });
  const request = egress?.request;
  if (request?.case !== 'roomComposite') throw new Error('no room composite was asked for');
  return request.value;
}

describe('a recording', () => {
  it('is left to the recorder without options', async () => {
    for (const body of [undefined, {}, { layout: null }]) {
      expect(await asked(body)).toMatchObject({ layout: '', audioOnly: false, options: { case: undefined } });
    }
  });

  it.each(RECORDING_LAYOUTS)('has the requested layout: %s', async (layout) => {
    expect(await asked({ layout })).toMatchObject({ layout, audioOnly: false });
  });

  it('has 720 lines on request, which the SDK takes for no preset', async () => {
    const { options } = await asked({ preset: 'H264_720P_30' });
    const value = { width: 1280, height: 720, framerate: 30, videoBitrate: 3000 };
    expect(options).toMatchObject({ case: 'advanced', value });
  });

  const others = RECORDING_PRESETS.filter((preset) => preset !== 'H264_720P_30');
  it.each(others)('has the requested picture: %s', async (preset) => {
    expect((await asked({ preset })).options).toEqual({
      case: 'preset',
      value: EncodingOptionsPreset[preset],
    });
  });

  it('has only audio on request', async () => {
    expect(await asked({ audioOnly: true })).toMatchObject({ layout: '', audioOnly: true });
  });

  it.each([
    [{ layout: 'tiles' }, '#/layout'],
    [{ preset: 'h264_720p_30' }, '#/preset'],
    [{ preset: 0 }, '#/preset'],
    [{ audioOnly: 'yes' }, '#/audioOnly'],
    [{ audioOnly: true, layout: 'grid' }, '#/layout'],
    [{ audioOnly: true, preset: 'H264_720P_30' }, '#/preset'],
    [{ template: 'https://example.org' }, '#/template'],
  ])('is rejected with options that the recorder does not know: case %#', async (body, pointer) => {
    expect(await start(body)).toMatchObject({ status: 400, json: { errors: [{ pointer }] } });
  });
});
