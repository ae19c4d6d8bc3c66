import { readFileSync, writeFileSync } from 'node:fs';
import { REQUIRED, type Setting } from '../src/server/app/config/setting.ts';
import { SETTINGS } from '../src/server/app/config/settings.ts';
import { createMetrics, type MetricDescription } from '../src/server/metrics/metrics.ts';
import { createWorkerMetrics } from '../src/server/metrics/metrics-routes.ts';
import { systemClock } from '../src/server/platform/clock.ts';
import { replaceBlock } from './replace-block.ts';

/* `node scripts/generate-docs.ts` writes the tables of docs/settings.md and docs/metrics.md from the settings and the metrics. */

/** Headings of the page of settings, by the first setting below each. */
const SECTIONS: Readonly<Record<string, string>> = {
  API_KEY: 'Keys of the API',
  HOST: 'Addresses and shutdown',
  LIVEKIT_URL: 'LiveKit',
  TOKEN_TTL: 'Access tokens',
  DATA_DIR: 'Database',
  S3_BUCKET: 'Recordings',
  ENCRYPTION_KEY: 'Encryption and webhooks',
  EVENT_RETENTION: 'Retention',
  STT_ENGINE: 'Speech to text',
  RATE_LIMIT_API: 'Limits',
  FISCAL_API: 'Fiscal codes',
  LOG_LEVEL: 'Log and metrics',
  OTEL_SDK_DISABLED: 'Traces',
};

/** Returns each page that has generated tables, as it has to be, by its path in the repository. */
export function generatedPages(): ReadonlyMap<string, string> {
  const blocks = {
    'docs/settings.md': { settings: settingsTables() },
    'docs/metrics.md': {
      metrics: metricsTable(createMetrics({ version: '', clock: systemClock }).describe()),
      'metrics of workers': metricsTable(
        createWorkerMetrics({ version: '', waitingSeconds: () => 0 }).describe(),
      ),
    },
  };
  return new Map(
    Object.entries(blocks).map(([path, tables]) => [
      path,
      Object.entries(tables).reduce(
        (page, [name, text]) => replaceBlock(page, name, text),
        readFileSync(toUrl(path), 'utf8'),
      ),
    ]),
  );
}

const toUrl = (path: string): URL => new URL(`../${path}`, import.meta.url);

function settingsTables(): string {
  const settings = Object.entries(SETTINGS as Readonly<Record<string, Setting<unknown>>>);
  const rows = settings.map(([name, { meaning, fallback, allowed, secret }]) => {
    const section = SECTIONS[name];
    const head = '| variable | meaning | default | allowed |\n|---|---|---|---|\n';
    const heading = section === undefined ? '' : `\n## ${section}\n\n${head}`;
    return `${heading}| ${name} | ${meaning}${secret ? ' (secret)' : ''} | ${describe(fallback)} | ${allowed} |\n`;
  });
  return rows.join('').trim();
}

function describe(fallback: unknown): string {
  if (fallback === REQUIRED) return 'required';
  if (fallback === undefined || fallback === '') return '';
  if (typeof fallback === 'boolean') return fallback ? 'on' : 'off';
  return `\`${String(fallback)}\``;
}

function metricsTable(metrics: readonly MetricDescription[]): string {
  const rows = metrics
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| ${name} | ${type} | ${labels.join(', ')} | ${help} |`);
  return ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

if (import.meta.main) for (const [path, text] of generatedPages()) writeFileSync(toUrl(path), text);
