import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { type MetricFamily, parseTextFormat } from '../../src/server/fixtures/metric-families.ts';
import { root, ServerProcess } from '../program.ts';
import { hasPrometheus, promtool, shippedRules, TestPrometheus } from '../prometheus.ts';
import { readPromQl } from '../promql.ts';

interface Rule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { type: string; uid: string };
  targets?: { refId: string; expr: string; datasource: object }[];
  fieldConfig?: { defaults: { unit?: string } };
}

interface Variable {
  name: string;
  type: string;
  query: string | { query: string };
}

const { groups } = parse(readFileSync(shippedRules, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readFileSync(join(root, 'packaging/grafana/portolan.json'), 'utf8')) as {
  uid: string;
  title: string;
  schemaVersion: number;
  version: number;
  panels: Panel[];
  templating: { list: Variable[] };
  time: { from: string; to: string };
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const variableQueries = dashboard.templating.list.flatMap(({ query }) =>
  typeof query === 'object' ? [query.query.replace(/^label_values\((.+),\s*\w+\)$/, '$1')] : [],
);

const server = new ServerProcess();
let families: Map<string, MetricFamily>;

beforeAll(async () => {
  await server.start();
  const scan = { targets: ['127.0.0.9'], ports: '20001-20040', options: { discover: false } };
  await server.waitForEnd(await server.submit(scan));
  await vi.waitFor(
    async () => {
      families = parseTextFormat(String((await server.request('/metrics')).body));
      expect(families.get('service_scans_total')?.samples.get('service_scans_total')).toBe(1);
    },
    { interval: 100 },
  );
});
afterAll(() => server.dispose());

/** Labels that Prometheus adds to every series. */
const ofTarget = ['job', 'instance'];

/** Values of each label of a metric or of a series of a histogram; null when there is no such metric. */
function labelsOf(name: string): Map<string, Set<string>> | null {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  if (!family) return null;
  const labels = new Map<string, Set<string>>();
  for (const series of family.samples.keys())
    for (const [, label = '', value = ''] of series.matchAll(/([a-z_]+)="([^"]*)"/g))
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
  return labels;
}

/** What an expression uses that the server does not export. */
function missingIn(expression: string): string[] {
  const { metrics, grouping } = readPromQl(expression);
  const exported = metrics.filter(({ name }) => name !== 'up');
  const missing: string[] = [];
  const known = new Set(ofTarget);
  for (const { name, matchers } of exported) {
    const labels = labelsOf(name);
    if (!labels) missing.push(name);
    for (const label of labels?.keys() ?? []) known.add(label);
    for (const { label, operator, value } of matchers) {
      if (ofTarget.includes(label)) continue;
      const values = labels?.get(label);
      if (!values) missing.push(`${name}{${label}}`);
      else if (operator === '=' && !values.has(value)) missing.push(`${name}{${label}="${value}"}`);
    }
  }
  return [...missing, ...grouping.filter((label) => !known.has(label)).map((label) => `by (${label})`)];
}

describe('the check of expressions', () => {
  it('notices metrics, labels and values that are not exported', () => {
    expect(
      missingIn('sum by (job, status) (rate(service_scans_finished_total{status="failed"}[5m])) > 2'),
    ).toEqual([]);
    expect(missingIn('service_invented_total > 10e9')).toEqual(['service_invented_total']);
    expect(missingIn('service_scans_total{pool="a"}')).toEqual(['service_scans_total{pool}']);
    expect(missingIn('service_scans_finished_total{status="lost"}')).toEqual([
      'service_scans_finished_total{status="lost"}',
    ]);
    expect(missingIn('sum by (pool) (service_queue_length)')).toEqual(['by (pool)']);
    expect(missingIn('up == 0 and rate(service_typo[5m]) / up{job="x"}')).toEqual(['service_typo']);
  });
});

describe('the alert rules', () => {
  it.each(rules)('$alert uses what the server exports', ({ expr }) => {
    expect(readPromQl(expr).metrics.length).toBeGreaterThan(0);
    expect(missingIn(expr)).toEqual([]);
  });

  it.each(rules)('$alert says what happened and what to do', ({ expr, labels, annotations }) => {
    expect(labels).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/) });
    expect(annotations).toEqual({ summary: expect.any(String), description: expect.any(String) });
    const { metrics, grouping } = readPromQl(expr);
    const aggregated = grouping.length > 0;
    const used = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    for (const label of used) {
      const selected = metrics.flatMap(({ name }) => [...ofTarget, ...(labelsOf(name)?.keys() ?? [])]);
      expect(aggregated ? grouping : selected).toContain(label);
    }
  });
});

describe('docs/monitoring.md', () => {
  it('explains every kind of probe error that the server exports', () => {
    const page = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
    const kinds = [...(labelsOf('service_probe_errors_total')?.get('kind') ?? [])];
    expect(kinds.length).toBeGreaterThan(5);
    for (const kind of kinds) {
      expect(page).toContain(`\n| \`${kind}\` | `);
      expect(families.get('service_probe_errors_total')?.help).toMatch(new RegExp(`[ :]${kind}[,.]`));
    }
  });
});

describe('the dashboard', () => {
  it('has the fields of a dashboard of Grafana', () => {
    expect(dashboard).toMatchObject({
      id: null,
      uid: expect.stringMatching(/^[a-z0-9-]{1,40}$/),
      title: 'Portolan',
      schemaVersion: 39,
      version: expect.any(Number),
      time: { from: expect.any(String), to: 'now' },
      annotations: { list: expect.any(Array) },
      templating: { list: expect.any(Array) },
      tags: ['portolan'],
    });
    expect(dashboard.templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
      ['instance', 'query'],
    ]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it('has panels on the grid of 24 columns that do not overlap', () => {
    const cells = new Map<string, string>();
    for (const { title, gridPos } of dashboard.panels) {
      const { x, y, w, h } = gridPos;
      expect([title, x >= 0, w > 0, h > 0, x + w <= 24]).toEqual([title, true, true, true, true]);
      for (let column = x; column < x + w; column++)
        for (let line = y; line < y + h; line++) {
          const cell = `${column},${line}`;
          expect([cell, cells.get(cell)]).toEqual([cell, undefined]);
          cells.set(cell, title);
        }
    }
  });

  it.each(panels)('$title has a unit, a description and the chosen data source', (panel) => {
    expect(['stat', 'timeseries']).toContain(panel.type);
    expect(panel.description).toMatch(/\.$/);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^[a-zA-Z]+$/);
    const source = { type: 'prometheus', uid: '${datasource}' };
    expect(panel.datasource).toEqual(source);
    expect(panel.targets?.length).toBeGreaterThan(0);
    for (const target of panel.targets ?? []) expect(target.datasource).toEqual(source);
    const refs = panel.targets?.map(({ refId }) => refId) ?? [];
    expect(new Set(refs).size).toBe(refs.length);
  });

  it.each(panels)('$title uses what the server exports, of the chosen servers', ({ targets = [] }) => {
    for (const { expr } of targets) {
      expect(missingIn(expr)).toEqual([]);
      for (const { matchers } of readPromQl(expr).metrics)
        expect(matchers.map(({ label, value }) => `${label} ${value}`)).toEqual(
          expect.arrayContaining(['job $job', 'instance $instance']),
        );
    }
  });

  it('has variables that the server exports', () => {
    expect(variableQueries.flatMap(missingIn)).toEqual([]);
    expect(variableQueries).toHaveLength(2);
  });
});

describe.skipIf(!hasPrometheus)('Prometheus', () => {
  it('has nothing to say against the metrics of a server', async () => {
    const { body } = await server.request('/metrics');
    expect(promtool(['check', 'metrics'], String(body))).toEqual({ status: 0, output: '' });
  });

  it('accepts the rules, which fire and resolve as their tests say', () => {
    expect(promtool(['check', 'rules', 'portolan.rules.yaml'])).toMatchObject({ status: 0 });
    expect(promtool(['test', 'rules', 'portolan.rules.test.yaml'])).toMatchObject({ status: 0 });
    const tested = readFileSync(shippedRules.replace('.yaml', '.test.yaml'), 'utf8');
    for (const { alert } of rules) expect(tested).toContain(`alertname: ${alert}\n`);
  });

  it('scrapes a running server in OpenMetrics, and evaluates rules and panels without an error', async ({
    onTestFinished,
  }) => {
    const target = new URL(server.url).host;
    const prometheus = await TestPrometheus.start([target], readFileSync(shippedRules, 'utf8'));
    onTestFinished(() => prometheus.dispose());
    const valueOf = async (expression: string) => (await prometheus.query(expression))[0]?.value;
    await expect.poll(() => valueOf('up')).toBe(1);
    expect(await prometheus.query('service_scans_total')).toEqual([
      { metric: { __name__: 'service_scans_total', job: 'portolan', instance: target }, value: 1 },
    ]);
    // OpenMetrics names a family of counters without the ending of its samples.
    expect(await prometheus.typeOf('service_scans')).toBe('counter');
    expect(await prometheus.typeOf('service_scans_total')).toBeNull();
    expect(await valueOf('service_queue_length')).toBe(0);
    expect(await valueOf('scrape_samples_scraped')).toBeGreaterThan(100);
    expect(await valueOf('scrape_samples_scraped')).toBeLessThan(2000);
    const chosen = (expr: string) =>
      expr
        .replaceAll('$job', 'portolan')
        .replaceAll('$instance', '.*')
        .replaceAll(/\$__(rate_interval|range)/g, '1m');
    for (const { targets = [] } of panels)
      for (const { expr } of targets) await expect(prometheus.query(chosen(expr))).resolves.toBeDefined();
    for (const { expr } of rules) await expect(prometheus.query(expr)).resolves.toBeDefined();
    expect(await valueOf('service_http_requests_total{route="/metrics",status="200"}')).toBeGreaterThan(0);
    expect((await prometheus.alerts()).filter(({ state }) => state === 'firing')).toEqual([]);
  });
});
