import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEPLOY, listQueries, type Panel, readPanels } from './support/dashboard.ts';

/* Checks the dashboard's file. prometheus.extended.ts checks that its queries find data. */

async function documentedMetrics(): Promise<readonly string[]> {
  const table = await readFile(join(DEPLOY, '..', 'docs', 'metrics.md'), 'utf8');
  return [...table.matchAll(/^\| (rtc_\w+) \|/gm)].map(([, name = '']) => name);
}

const namesIn = (text: string): readonly string[] =>
  [
    ...new Set([...text.matchAll(/\brtc_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))),
  ].toSorted();

describe('the dashboard', () => {
  it('shows every metric of the service and of a worker, and only existing ones', async () => {
    const shown = namesIn((await listQueries()).join('\n'));
    expect(shown).toEqual([...new Set(await documentedMetrics())].toSorted());
  });

  it('has panels that lie side by side on a grid of 24 columns', async () => {
    const panels = await readPanels();
    const cells = panels.flatMap(listCells);
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x < 0 || x + w > 24)).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  it('has the panels that the runbook names', async () => {
    const runbook = await readFile(join(DEPLOY, '..', 'docs', 'troubleshooting.md'), 'utf8');
    const [, table = ''] = runbook.split('what the dashboard shows');
    const named = [...(table.split('\n\n')[0] ?? '').matchAll(/"([^"]+)"/g)].map(([, title = '']) => title);
    const titles = (await readPanels()).map(({ title }) => title);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((title) => !titles.includes(title))).toEqual([]);
  });

  it('shows current figures, not the last known ones', async () => {
    const figures = (await readPanels()).filter(({ type }) => type === 'stat');
    expect(figures.length).toBeGreaterThan(10);
    const ranges = figures.filter(({ targets = [] }) => targets.some(({ instant }) => instant !== true));
    expect(ranges.map(({ title }) => title)).toEqual([]);
  });

  it('shows yes, no or unknown like the runbook', async () => {
    const runbook = await readFile(join(DEPLOY, '..', 'docs', 'troubleshooting.md'), 'utf8');
    const titles = [...runbook.matchAll(/"([^"]+)" is (?:yes|no|unknown)\b/g)].map(([, title = '']) => title);
    expect(new Set(titles).size).toBe(4);
    const panels = await readPanels();
    for (const title of titles) {
      const defaults = panels.find((panel) => panel.title === title)?.fieldConfig?.defaults;
      const texts = defaults?.mappings?.[0]?.options;
      expect([title, texts?.[0]?.text, texts?.[1]?.text, defaults?.noValue]).toEqual([
        title,
        'no',
        'yes',
        'unknown',
      ]);
    }
  });

  it('distinguishes workers that are gone from workers that never existed', async () => {
    const panels = (await readPanels()).filter(({ type, targets = [] }) =>
      targets.some(({ expr }) => type === 'stat' && /rtc_(media|speech)_workers/.test(expr)),
    );
    expect(panels).toHaveLength(4);
    for (const { targets = [], fieldConfig } of panels) {
      expect(targets[0]?.expr).toMatch(/^max\((.+)\) and max\(max_over_time\(\1\[6h\]\)\) > 0$/);
      expect(fieldConfig?.defaults.noValue).toBe('none seen');
    }
  });
});

describe('the alerts', () => {
  it('use existing metrics', async () => {
    const rules = await readFile(join(DEPLOY, 'prometheus', 'alerts.yml'), 'utf8');
    const known = await documentedMetrics();
    const expressions = [...rules.matchAll(/expr: (\|\n(?: {10}.*\n)+|.*)/g)].map(
      ([, expression = '']) => expression,
    );
    expect(expressions.length).toBeGreaterThan(20);
    expect(namesIn(expressions.join('\n')).filter((name) => !known.includes(name))).toEqual([]);
  });
});

function listCells({ gridPos: { h, w, x, y } }: Panel): readonly string[] {
  return Array.from({ length: h * w }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
}
