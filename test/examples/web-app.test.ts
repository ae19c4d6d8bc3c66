import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Token } from '../../src/contract/tokens.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startWebApp, type WebApp } from './support/start-web-app.ts';

describe('the example of a web application', () => {
  let service: TestService;
  let app: WebApp;
  beforeAll(async () => {
    service = await startTestService();
    app = await startWebApp(service);
  });
  afterAll(async () => {
    await app?.close();
    await service?.close();
  });

  it('serves its page and the LiveKit client', async () => {
    expect(await (await fetch(app.url)).text()).toContain('/livekit-client.js');
    const client = await fetch(`${app.url}/livekit-client.js`);
    expect([client.status, client.headers.get('content-type')]).toEqual([200, 'text/javascript']);
    expect((await fetch(`${app.url}/anything-else`)).status).toBe(404);
  });

  it('issues a token of the service', async () => {
    const response = await fetch(`${app.url}/token?name=Ada`);
    expect(await response.json()).toMatchObject({
      token: expect.stringMatching(/^eyJ/),
      url: expect.stringMatching(/^ws/),
    } satisfies Partial<Record<keyof Token, unknown>>);
  });

  it("passes on the service's errors", async () => {
    const response = await fetch(`${app.url}/token?name=`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('userId');
  });
});
