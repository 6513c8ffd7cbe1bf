import { describe, expect, it } from 'vitest';
import { completedFacts, findingRow, hostRow, portRow, reportOfRows } from '../../fixtures/report-of-rows.ts';
import { syntheticPresets } from '../../fixtures/synthetic-scan.ts';
import { buildReport } from '../build-report.ts';
import type { ReportChanges } from '../changes.ts';

const changes: ReportChanges = {
  against: '20261120-141402-90be17',
  at: '2026-11-20T14:14:00.000Z',
  new: 3,
  fixed: 7,
  unchanged: 84,
  unseen: 2,
  balance: { critical: 0, high: -5, medium: 1, low: 0, info: 0 },
  hostsAdded: 0,
  hostsRemoved: 0,
  items: [],
  itemsLeft: 0,
  notComparable: [],
};

const summary = { ...completedFacts().summary, addresses_scanned: 250, excluded: 4 };
const canceled = { status: 'failed', partial: true, failure: { code: 'canceled', message: 'Canceled.' } };

async function lines(...[rows, facts, options]: Parameters<typeof reportOfRows>): Promise<string[]> {
  const { headline } = await reportOfRows(rows, { summary, stages: [], ...facts }, options);
  return headline.map(({ number, label, note, marks }) => `${number} | ${label} | ${note} | ${marks ?? ''}`);
}

describe('the three numbers at the front', () => {
  it('of the pictured office, against an earlier scan', async () => {
    const { facts, rows } = syntheticPresets.office();
    const options = { template: null, paper: 'a4', changes, madeAt: facts.timestamp } as const;
    const { headline } = await buildReport(facts, options, rows());
    expect(headline).toEqual([
      { number: '10', label: 'known exploited', note: '1 certain, 2 likely, 7 possible', marks: 'exploited' },
      {
        number: '12',
        label: 'critical or high, of 87 findings',
        note: '1 critical, 11 high, 55 medium, 6 low, 14 info',
        marks: 'severities',
      },
      {
        number: '−4',
        label: 'findings since Nov 20',
        note: '3 new, 7 fixed, 84 unchanged, 2 not visible before',
        marks: null,
      },
    ]);
  });

  it('without an earlier scan end with the hosts', async () => {
    const rows = [hostRow('10.0.0.1'), hostRow('10.0.0.2'), findingRow('10.0.0.2', 80, 'a')];
    expect(await lines(rows)).toEqual([
      '0 | known exploited | none of the findings | ',
      '0 | critical or high, of 1 finding | 1 medium | severities',
      '1 | host with findings | of 2 that answered | ',
    ]);
  });

  it('of a partial scan end with the ports that were not tried', async () => {
    const port_counts = { open: 1, closed: 40, filtered: 1, not_tried: 58 };
    const rows = [hostRow('10.0.0.1', { port_counts }), findingRow('10.0.0.1', 80, 'a', { kev: true })];
    const partial = [
      '1 | known exploited, so far | 1 certain | exploited',
      '0 | critical or high, so far, of 1 finding | 1 medium | severities',
      '58 | ports not tried | of 100: 58 % | ',
    ];
    expect(await lines(rows, canceled, { changes })).toEqual(partial);
    expect((await lines(rows.slice(0, 1), canceled))[2]).toBe(partial[2]);
    expect((await lines([findingRow('10.0.0.1', 80, 'a')], canceled))[2]).toBe(
      '1 | host with findings, so far | of 1 that answered | ',
    );
  });

  it('without findings say what could not be judged', async () => {
    const rows = [hostRow('10.0.0.1'), portRow('10.0.0.1', 80)];
    const judged = [
      '253 | addresses not judged | 249 did not answer, 4 excluded | ',
      '1 | open port not recognized | of 1; nothing is said about them | ',
    ];
    expect(await lines(rows)).toEqual(['0 | findings on 1 host | 1 open port | ', ...judged]);
    expect(await lines(rows, { evaluated: false })).toEqual([
      '– | findings on 1 host | not asked for | ',
      ...judged,
    ]);
  });
});
