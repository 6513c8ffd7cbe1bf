import { describe, expect, it } from 'vitest';
import { scanRequest } from '../../../domain/fixtures/scan-request.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import { generator } from '../../../workspace/render/generator.ts';
import { completedFacts, findingRow, reportOfRows, scored } from '../../fixtures/report-of-rows.ts';
import type { ReportChanges } from '../changes.ts';
import { phaseTimes } from './methodology.ts';

function stage(
  module_type: string,
  from: number,
  to: number | null,
  more: Partial<StageRecord> = {},
): StageRecord {
  const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 14, 0, second)).toISOString();
  return {
    instance_id: module_type,
    module_type,
    status: 'completed',
    started_at: at(from),
    completed_at: to === null ? null : at(to),
    items_in: 3,
    items_out: 2,
    error: null,
    ...more,
  };
}

const request = scanRequest({
  targets: ['192.168.20.0/24'],
  exclude: ['192.168.20.8/30'],
  profile: 'standard',
  ports: null,
  rate: 500,
  vuln: true,
  dag: null,
  options: { compliance: ['cis'], intrusive: true },
});
const times = { startedAt: '2026-11-21T14:14:18.000Z', completedAt: '2026-11-21T14:23:10.000Z' };
const changes: ReportChanges = {
  against: '20261120-141402-90be17',
  at: '2026-11-20T14:14:00.000Z',
  new: 0,
  fixed: 0,
  unchanged: 0,
  unseen: 0,
  balance: { critical: 0, high: -5, medium: 1, low: 0, info: 0 },
  hostsAdded: 0,
  hostsRemoved: 0,
  items: [],
  itemsLeft: 0,
  notComparable: [],
};

async function settings(...[rows, facts, options]: Parameters<typeof reportOfRows>) {
  const { methodology } = await reportOfRows(rows, { request, stages: [], ...times, ...facts }, options);
  return new Map(methodology.settings.map(({ label, value }) => [label, value]));
}

describe('the settings of a scan', () => {
  it('say how to repeat it', async () => {
    const summary = { ...completedFacts().summary, duration_seconds: 532, catalogue_version: '2026-11-21' };
    expect([...(await settings([], { summary }, { changes }))]).toEqual([
      ['Profile', 'standard, with findings, compliance cis, with intrusive checks'],
      ['Targets', '192.168.20.0/24'],
      ['Excluded', '192.168.20.8/30'],
      ['Ports', 'those of the profile'],
      ['Rate', 'at most 500 packets/s'],
      ['Times', 'Nov 21, 2026, 14:14:18 to 14:23:10 UTC, 8 min 52 s'],
      ['Program', `Portolan ${generator.version}`],
      ['Catalog', '2026-11-21'],
      ['Compared with', '20261120-141402-90be17 of Nov 20, 2026, 14:14 UTC'],
      [
        'Command',
        'portolan scan 192.168.20.0/24 --exclude 192.168.20.8/30 --profile standard --rate 500 --vuln --compliance cis --intrusive',
      ],
    ]);
  });

  it('without a request are those of the record', async () => {
    const known = await settings([], { request: null, targets: ['10.0.0.1'] });
    expect([...known.keys()]).toEqual(['Targets', 'Times', 'Program', 'Catalog']);
    expect(known.get('Targets')).toBe('10.0.0.1');
  });

  it('name a limited number of targets', async () => {
    const targets = Array.from({ length: 60 }, (_, index) => `10.0.0.${index}`);
    const named = (await settings([], { request: null, targets })).get('Targets');
    expect(named).toMatch(/10\.0\.0\.49 and 10 more$/);
  });

  it('say that a partial scan compares with nothing', async () => {
    const partial = { status: 'failed', partial: true, failure: { code: 'canceled', message: 'Canceled.' } };
    const report = await reportOfRows([], { request, ...partial }, { changes });
    expect(report.methodology.settings.find(({ label }) => label === 'Compared with')?.value).toBe(
      'nothing: the results are partial',
    );
    expect(report.options.changes).toBeNull();
    expect(report.summary.lines.map(({ change }) => change)).toEqual([null, null, null, null, null]);
    const whole = await reportOfRows([], {}, { changes });
    expect(whole.summary.lines.map(({ change }) => change)).toEqual([0, -5, 1, 0, 0]);
  });

  it('say that EPSS scores are missing if no known flaw has one', async () => {
    const catalog = async (...rows: ReturnType<typeof findingRow>[]) => (await settings(rows)).get('Catalog');
    expect(await catalog(findingRow('10.0.0.1', 1, 'CVE-1'))).toMatch(/, without EPSS scores$/);
    expect(await catalog(findingRow('10.0.0.1', 1, 'CVE-1', scored(0.1, 5)))).not.toMatch(/EPSS/);
    expect(await catalog(findingRow('10.0.0.1', 1, 'telnet'))).not.toMatch(/EPSS/);
  });
});

describe('the modules of a scan', () => {
  it('have versions, times and errors as far as they are recorded', async () => {
    const stages = [
      stage('syn_scanner', 0, 60, { version: '1.4.0' }),
      stage('banner_grabber', 10, null, { status: 'failed', error: 'canceled\nlater' }),
    ];
    const { methodology } = await reportOfRows([], { stages });
    expect(methodology.modules).toEqual([
      {
        module_type: 'syn_scanner',
        version: '1.4.0',
        status: 'completed',
        items_in: 3,
        items_out: 2,
        error: null,
        seconds: 60,
      },
      {
        module_type: 'banner_grabber',
        version: null,
        status: 'failed',
        items_in: 3,
        items_out: 2,
        error: 'canceled later',
        seconds: null,
      },
    ]);
  });

  it('are timed by phase, from the first start to the last end', () => {
    const stages = [
      stage('icmp_discovery', 0, 5),
      stage('arp_discovery', 2, 9),
      stage('syn_scanner', 5, 300),
      stage('banner_grabber', 10, 310),
      stage('tls_parser', 10, 320),
      stage('cve_matcher', 300, 330),
      stage('compliance_evaluator', 0, 900, { status: 'skipped' }),
      stage('json_reporter', 330, 331),
    ];
    expect(phaseTimes(stages)).toEqual([
      { phase: 'discovery', seconds: 9 },
      { phase: 'ports', seconds: 295 },
      { phase: 'services', seconds: 310 },
      { phase: 'evaluation', seconds: 30 },
    ]);
    expect(phaseTimes([stage('syn_scanner', 0, null)])).toEqual([]);
  });
});

describe('the sources of a scan', () => {
  it('are plugins with their hashes', async () => {
    const file = {
      name: 'mine',
      version: '1.0.0',
      kind: 'wasm',
      sha256: 'ab'.repeat(32),
      archive: true,
      entry: 'a',
      permissions: [],
      source: '',
    };
    const plugins = [{ file, metadata: null, added: true }];
    const { methodology } = await reportOfRows([], { request: { ...request, plugins } });
    expect(methodology.plugins).toEqual([
      { name: 'mine', version: '1.0.0', kind: 'wasm', sha256: 'ab'.repeat(32) },
    ]);
    expect(methodology.limits).toMatch(/^A version is what a service says about itself\./);
  });

  it('need a notice if NVD data was used', async () => {
    const summary = { ...completedFacts().summary, catalogue_version: '2026-11-21+vulndb@2026-11-20' };
    expect((await reportOfRows([], { summary })).methodology.notice).toMatch(
      /not endorsed or certified by the NVD/,
    );
    expect((await reportOfRows([])).methodology.notice).toBe('');
  });
});
