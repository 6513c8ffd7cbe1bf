import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../domain/finding.ts';
import type { ResultRow } from '../../../domain/result.ts';
import { completedFacts, findingRow, hostRow, portRow, reportOfRows } from '../../fixtures/report-of-rows.ts';
import { syntheticPresets, syntheticScan } from '../../fixtures/synthetic-scan.ts';
import type { ReportFacts } from '../../report-facts.ts';
import { buildReport } from '../build-report.ts';

const summary = { ...completedFacts().summary, addresses_scanned: 250, excluded: 4 };
const update = (name: string): Partial<Finding> => ({
  action: { key: `update ${name}`, text: `Update ${name}`, update: true },
});

async function verdict(rows: ResultRow[], facts: Partial<ReportFacts> = {}): Promise<string> {
  return (await reportOfRows(rows, { summary, ...facts })).verdict;
}

/** A host with findings. */
function withFindings(last: number, ...findings: Partial<Finding>[]): ResultRow[] {
  const host = `10.0.0.${last}`;
  return [hostRow(host), ...findings.map((more, index) => findingRow(host, 22, `CVE-${index}`, more))];
}

const exploited: Partial<Finding> = { kev: true, severity: 'high', ...update('nginx') };

describe('the verdict', () => {
  it.each<[string, ResultRow[], string]>([
    [
      'exploited for certain on one host',
      [
        ...withFindings(1, exploited),
        ...withFindings(2, { ...exploited, class: 'possible', ...update('a') }),
      ],
      'Act now: 1 host certainly runs a known exploited version, and 1 more may. Two updates remove both.',
    ],
    [
      'exploited for certain everywhere',
      [
        ...withFindings(1, exploited),
        ...withFindings(2, exploited),
        ...withFindings(3, exploited, exploited),
      ],
      'Act now: 3 hosts certainly run a known exploited version. One update removes all 4 such findings.',
    ],
    [
      'one exploited finding',
      withFindings(1, exploited),
      'Act now: 1 host certainly runs a known exploited version. One update removes it.',
    ],
    [
      'exploited without an update',
      withFindings(1, { kev: true, remediation: 'Close it.' }),
      'Act now: 1 host certainly has a known exploited flaw. One action removes it.',
    ],
    [
      'exploited, but not certain',
      [1, 2, 3].flatMap((last) =>
        withFindings(last, { ...exploited, class: last === 1 ? 'likely' : 'possible' }),
      ),
      'Check first: 3 hosts may run a known exploited version. One update settles all 3.',
    ],
    [
      'critical or high',
      [
        ...withFindings(1, { severity: 'critical', ...update('a') }, { severity: 'high', class: 'likely' }),
        ...withFindings(2, { severity: 'low' }),
      ],
      '2 findings are critical or high, 1 of them certain. Start with “Update a”.',
    ],
    [
      'one high finding',
      withFindings(1, { severity: 'high', class: 'possible', ...update('a') }),
      '1 finding is critical or high, and it is not certain. Start with “Update a”.',
    ],
    [
      'medium',
      withFindings(1, {}, {}, { class: 'possible' }, { severity: 'low' }),
      'Nothing critical or high was found. 3 findings are medium, 2 of them certain.',
    ],
    [
      'low',
      withFindings(1, { severity: 'low' }, { severity: 'low' }),
      'Nothing critical, high or medium was found. 2 findings are low, all of them certain.',
    ],
    [
      'info',
      withFindings(1, { severity: 'info', class: 'possible' }),
      'Nothing critical, high, medium or low was found. 1 finding is informational, and it is not certain.',
    ],
    [
      'none',
      [hostRow('10.0.0.1'), portRow('10.0.0.1', 22), hostRow('10.0.0.2')],
      'No findings on the 2 hosts that answered. 252 addresses and 1 open port could not be judged.',
    ],
    ['nobody', [], 'No address of 250 answered. This says nothing about what is there.'],
  ])('of %s', async (_case, rows, text) => {
    expect(await verdict(rows)).toBe(text);
  });

  it('of a scan without evaluation says so, unless plugins found something', async () => {
    const facts = { evaluated: false };
    expect(await verdict([hostRow('10.0.0.1')], facts)).toBe(
      'Findings were not asked for: ports and services only.',
    );
    expect(await verdict(withFindings(1, { severity: 'high' }), facts)).toMatch(
      /^1 finding is critical or high/,
    );
    expect(await verdict([], facts)).toMatch(/^No address of 250 answered/);
  });

  it('of a scan that saw everything has nothing to add', async () => {
    const whole = { ...summary, addresses_scanned: 1, excluded: 0 };
    expect(await verdict([hostRow('10.0.0.1')], { summary: whole })).toBe(
      'No findings on the 1 host that answered.',
    );
  });

  it('of a scan without addresses tried none', async () => {
    const none = { ...summary, addresses_scanned: 0 };
    expect(await verdict([], { summary: none })).toBe(
      'No address was tried. This says nothing about what is there.',
    );
  });

  it.each<[string, Partial<ReportFacts>, string]>([
    [
      'canceled',
      { status: 'failed', partial: true, failure: { code: 'canceled', message: 'Canceled.' } },
      'The scan was canceled',
    ],
    [
      'timed out',
      { status: 'failed', partial: true, failure: { code: 'timeout', message: 'Too long.' } },
      'The scan ran out of time',
    ],
    [
      'failed',
      { status: 'failed', partial: true, failure: { code: 'pipeline_failed', message: 'No.' } },
      'The scan failed',
    ],
    ['running', { status: 'running', partial: true }, 'The scan is not finished'],
  ])(
    'of a scan that %s says what was not tried instead of what to do first',
    async (_case, facts, clause) => {
      const stages = [
        {
          ...(completedFacts().stages[0] as ReportFacts['stages'][number]),
          coverage: { open: 2, closed: 30, filtered: 10, not_tried: 58 },
        },
      ];
      expect(await verdict(withFindings(1, exploited), { ...facts, stages })).toBe(
        `Act now: 1 host certainly runs a known exploited version. ${clause}: 58 % of the ports were not tried, so more may be there.`,
      );
      expect(await verdict([hostRow('10.0.0.1')], { ...facts, stages: [] })).toBe(
        `No findings on the 1 host that answered. ${clause}, so more may be there.`,
      );
    },
  );
});

describe('every verdict', () => {
  const scans = [
    ...Array.from({ length: 20 }, (_, seed) =>
      syntheticScan({ seed, hosts: seed, findings: seed * 3, canceled: seed % 4 === 0 }),
    ),
    ...Object.entries(syntheticPresets)
      .filter(([name]) => !['thousand', 'dense', 'fiveThousand'].includes(name))
      .map(([, make]) => make())
      .filter(({ facts }) => facts.summary.vulnerabilities < 500),
  ];

  it('has at most two sentences and promises nothing', async () => {
    for (const scan of scans) {
      const options = { template: null, paper: 'a4', changes: null, madeAt: scan.facts.timestamp } as const;
      const report = await buildReport(scan.facts, options, scan.rows());
      const said = [
        report.verdict,
        report.coverage.text,
        report.partial ?? '',
        ...Object.values(report.leads),
      ];
      for (const text of said)
        expect(text).not.toMatch(/\b(?:safe|secure|clean|passed|NaN|undefined|null)\b/);
      const outside = report.verdict.replace(/“[^”]*”/g, '').replaceAll(/\d\.\d/g, '');
      expect(outside.match(/[.!?](?= |$)/g)?.length ?? 0).toBeLessThanOrEqual(2);
    }
  });
});
