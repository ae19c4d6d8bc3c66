import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestService } from '../../../support/service.ts';
import { playScenario } from './support/scenario.ts';
import { stabilize } from './support/stable-values.ts';

/*
 * The examples of the document are recorded exchanges. This test records them again and compares. After an intended change,
 * `npx vitest run test/server/platform/openapi/examples.test.ts -u` updates them.
 */

const FILE = join(import.meta.dirname, '../../../../src/server/platform/openapi/examples.json');

describe('the examples of the document', () => {
  it('have the form of real values', async () => {
    const service = await startTestService();
    const examples = (operationId: string, status: string): unknown => {
      const operations = Object.values(service.document.paths).flatMap((item) => Object.values(item));
      const response = operations.find((each) => each.operationId === operationId)?.responses[status];
      return response?.content?.['application/json']?.example;
    };
    expect(examples('createToken', '200')).toHaveProperty('token', expect.stringMatching(/^eyJ.+\..+\..+$/));
    expect(examples('createWebhook', '201')).toHaveProperty('secret', expect.stringMatching(/^whsec_.{44}$/));
    expect(examples('startRecording', '200')).toHaveProperty('status', 'already_recording');
    expect(examples('startRecording', '201')).toHaveProperty('status', 'recording');
    expect(examples('getReadiness', '200')).toHaveProperty('ready', true);
    expect(examples('getReadiness', '503')).toHaveProperty('ready', false);
    const { BadRequest } = service.document.components.responses as Readonly<Record<string, object>>;
    expect(JSON.stringify(BadRequest)).toContain('"errors":[{"pointer":"#/name"');
    await service.close();
  });

  it('equal the real responses of the service', async () => {
    const exchanges = stabilize(await playScenario());
    await expect(`${JSON.stringify(exchanges, undefined, 2)}\n`).toMatchFileSnapshot(FILE);
  });
});
