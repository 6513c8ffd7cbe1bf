import { describe, expect, it } from 'vitest';
import type { ComplianceRow } from '../../../domain/result.ts';
import { hostRow, reportOfRows } from '../../fixtures/report-of-rows.ts';

function controlRow(host: string | null, control: string, more: Partial<ComplianceRow> = {}): ComplianceRow {
  return {
    type: 'compliance',
    timestamp: '2026-11-21T14:20:00.000Z',
    host,
    port: null,
    framework: 'cis',
    control,
    title: `Title of ${control}`,
    status: 'fail',
    description: `why ${control}`,
    severity: null,
    finding_ids: [],
    ...more,
  };
}

describe('compliance of a report', () => {
  it('counts hosts by control, by framework and number', async () => {
    const rows = [
      controlRow('10.0.0.1', '3.10', { port: 80 }),
      controlRow('10.0.0.1', '3.10', { port: 443 }),
      controlRow('10.0.0.2', '3.10', { status: 'pass' }),
      controlRow('10.0.0.3', '3.10', { status: 'not_assessed' }),
      controlRow('10.0.0.1', '3.3', { status: 'pass' }),
      controlRow(null, '4.8', { status: 'not_assessed' }),
      controlRow('10.0.0.1', '__proto__', { framework: 'aaa', status: 'pass' }),
      ...[1, 2, 3].map((last) => hostRow(`10.0.0.${last}`)),
    ];
    const [first, cis] = (await reportOfRows(rows)).compliance;
    expect([first?.framework, first?.controls[0]?.control]).toEqual(['aaa', '__proto__']);
    expect(cis?.controls).toEqual([
      { control: '3.3', title: 'Title of 3.3', fail: 0, pass: 1, notAssessed: 0, reason: null, failed: [] },
      {
        control: '3.10',
        title: 'Title of 3.10',
        fail: 1,
        pass: 1,
        notAssessed: 1,
        reason: null,
        failed: [
          { host: '10.0.0.1', port: 80, text: 'why 3.10' },
          { host: '10.0.0.1', port: 443, text: 'why 3.10' },
        ],
      },
      {
        control: '4.8',
        title: 'Title of 4.8',
        fail: 0,
        pass: 0,
        notAssessed: 3,
        reason: 'why 4.8',
        failed: [],
      },
    ]);
  });

  it('counts a host once that fails again behind other hosts', async () => {
    const rows = ['10.0.0.1', '10.0.0.2', '10.0.0.1'].map((host, index) =>
      controlRow(host, '3.3', { port: index }),
    );
    const [cis] = (await reportOfRows(rows)).compliance;
    expect(cis?.controls[0]?.fail).toBe(2);
  });

  it('names a limited number of hosts and controls, and ignores an invalid status', async () => {
    const rows = [
      ...Array.from({ length: 80 }, (_, index) => controlRow(`10.0.0.${index}`, '1')),
      ...Array.from({ length: 600 }, (_, index) => controlRow('10.0.0.1', `x-${index}`)),
      controlRow('10.0.0.9', 'x-1', { status: 'odd' as 'fail' }),
    ];
    const [cis] = (await reportOfRows(rows)).compliance;
    expect([cis?.controls.length, cis?.controlsLeft]).toEqual([500, 101]);
    expect([cis?.controls[0]?.failed.length, cis?.controls[0]?.fail]).toEqual([50, 80]);
    expect(cis?.controls[2]).toMatchObject({ fail: 1, pass: 0, notAssessed: 0 });
  });

  it('is empty if nothing was evaluated', async () => {
    expect((await reportOfRows([hostRow('10.0.0.1')])).compliance).toEqual([]);
  });
});
