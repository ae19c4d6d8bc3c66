import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestService } from '../../support/service.ts';

const SERVER = fileURLToPath(new URL('../../../examples/web-app/server.js', import.meta.url));

export type WebApp = { readonly url: string; readonly close: () => Promise<void> };

/** Starts examples/web-app as a process that calls the service. */
export async function startWebApp({ url, apiKey, apiSecret }: TestService): Promise<WebApp> {
  const child = spawn(process.execPath, [SERVER], {
    env: {
      ...process.env,
      PORT: '0',
      RTC_URL: url,
      RTC_API_KEY: apiKey,
      RTC_API_SECRET: apiSecret,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const address = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    exited.then(([code]) => {
      throw new Error(`${SERVER} ended with ${code}`);
    }),
  ]);
  return {
    url: address,
    close: async () => {
      child.kill();
      await exited;
    },
  };
}
