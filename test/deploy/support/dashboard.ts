import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const DEPLOY = join(import.meta.dirname, '..', '..', '..', 'deploy');

export type Panel = {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly instant?: boolean }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly noValue?: string;
      readonly mappings?: readonly {
        readonly options: Readonly<Record<string, { readonly text: string }>>;
      }[];
    };
  };
};

export async function readPanels(): Promise<readonly Panel[]> {
  const text = await readFile(join(DEPLOY, 'grafana', 'rtc-service.json'), 'utf8');
  const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(text);
  return dashboard.panels;
}

/** Returns a panel's queries as Grafana sends them with a scrape every 15 seconds; without a title, those of all panels. */
export async function listQueries(title?: string): Promise<readonly string[]> {
  const panels = (await readPanels()).filter((panel) => title === undefined || panel.title === title);
  if (panels.length === 0) throw new Error(`the dashboard has no panel ${title}`);
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m')),
  );
}
