import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, runPart, untilReady } from '../../support/parts/run-part.ts';
import '../../support/parts/prometheus.ts';
import { DEPLOY, listQueries } from './dashboard.ts';

/* A real Prometheus with the configuration, the rules and the dashboard of deploy/. */

export type Series = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

export type ShippedPrometheus = {
  readonly query: (expression: string) => Promise<readonly Series[]>;
  /** Resolves to the results of all queries of the panel with this title. */
  readonly panel: (title: string) => Promise<readonly Series[]>;
  /** Resolves to the loaded rules, in Prometheus' JSON. */
  readonly rules: () => Promise<string>;
  readonly firing: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

export type Scraped = {
  /** METRICS_PORT of the service and of the worker. */
  readonly service: number;
  readonly worker?: number;
  /** The scrape interval. Default: the one of the configuration. */
  readonly interval?: string;
};

export async function startShippedPrometheus(scraped: Scraped): Promise<ShippedPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-prometheus-'));
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, await configurationFor(scraped));
  const port = await freePort();
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const part = runPart({ name: 'prometheus', program: 'prometheus', args });
  const address = `http://127.0.0.1:${port}`;
  await untilReady(part, 'prometheus', { isReady: async () => (await fetch(`${address}/-/ready`)).ok });
  const query = async (expression: string): Promise<readonly Series[]> => {
    const response = await fetch(`${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const found: QueryResponse = JSON.parse(await response.text());
    if (found.data === undefined) throw new Error(`${expression}: ${found.error}`);
    return found.data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  };
  return {
    query,
    panel: async (title) => (await Promise.all((await listQueries(title)).map(query))).flat(),
    rules: async () => await (await fetch(`${address}/api/v1/rules`)).text(),
    firing: async () => {
      const alerts = await query('ALERTS{alertstate="firing"}');
      return [...new Set(alerts.map(({ labels }) => labels.alertname ?? ''))].toSorted();
    },
    close: async () => {
      await part.close();
      await rm(folder, { recursive: true });
    },
  };
}

type QueryResponse = {
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
};

async function configurationFor({ service, worker, interval = '15s' }: Scraped): Promise<string> {
  const shipped = await readFile(join(DEPLOY, 'prometheus', 'prometheus.yml'), 'utf8');
  const workers = worker === undefined ? '[]' : `[{ targets: ['127.0.0.1:${worker}'] }]`;
  return shipped
    .replace('rtc-service:9464', `127.0.0.1:${service}`)
    .replace(/dns_sd_configs:\n.*/, `static_configs: ${workers}`)
    .replace('alerts.yml', join(DEPLOY, 'prometheus', 'alerts.yml'))
    .replaceAll('_interval: 15s', `_interval: ${interval}`);
}
