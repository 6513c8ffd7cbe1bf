import { describe, expect, it } from 'vitest';
import { findingRow, hostRow, portRow, reportOfRows } from '../../fixtures/report-of-rows.ts';
import { syntheticPresets } from '../../fixtures/synthetic-scan.ts';
import { buildReport } from '../build-report.ts';
import { coverageText } from './leads.ts';

describe('the first sentences of the sections', () => {
  it('of the pictured office', async () => {
    const { facts, rows } = syntheticPresets.office();
    const options = { template: null, paper: 'a4', changes: null, madeAt: facts.timestamp } as const;
    const { leads, coverage, verdict } = await buildReport(facts, options, rows());
    expect(verdict).toBe(
      'Act now: 1 host certainly runs a known exploited version, and 9 more may. Two updates remove all 10.',
    );
    expect(leads.summary).toBe(
      '38 hosts answered. They have 87 findings, 12 of them critical or high. 10 are known exploited: 1 certain, 2 likely, 7 possible. Two actions of the fix list remove all 10.',
    );
    expect(leads.fixes).toMatch(/^11 actions remove 87 findings\. /);
    expect(leads.findings).toMatch(/^17 kinds on 31 hosts\. /);
    expect(leads.services).toBe('129 open ports; 5 of them were not recognized.');
    expect(coverage.text).toBe(
      'All 38,304 planned ports were tried. Not looked at: 212 addresses that did not answer, 4 excluded addresses, ports beyond the plan and whatever a firewall hid from this place in the network.',
    );
  });

  it('of a scan without findings, and of one without hosts', async () => {
    const empty = await reportOfRows([]);
    expect(empty.leads).toEqual({
      summary: '0 hosts answered. No findings on them.',
      fixes: 'There is nothing to fix in what was found.',
      findings: 'No findings are recorded.',
      hosts: 'No host is recorded.',
      services: 'No open port is recorded.',
      certificates: 'No certificate was read.',
    });
    const unasked = await reportOfRows([hostRow('10.0.0.1')], { evaluated: false });
    expect(unasked.leads.summary).toBe('1 host answered. Findings were not asked for.');
  });

  it('of a partial scan say so far', async () => {
    const partial = { status: 'failed', partial: true, failure: { code: 'timeout', message: 'Too long.' } };
    const { leads } = await reportOfRows([hostRow('10.0.0.1'), findingRow('10.0.0.1', 80, 'a')], partial);
    expect(leads.summary).toMatch(/^1 host answered\. It has 1 finding so far, 0 of them critical or high\./);
    expect(leads.fixes).toBe('One action removes 1 finding so far.');
  });

  it('of one finding are singular', async () => {
    const rows = [
      hostRow('10.0.0.1'),
      portRow('10.0.0.1', 80),
      findingRow('10.0.0.1', 80, 'a', { kev: true }),
    ];
    const { leads } = await reportOfRows(rows);
    expect(leads.summary).toBe(
      '1 host answered. It has 1 finding, 0 of them critical or high. 1 is known exploited: 1 certain. Action 1 of the fix list removes it.',
    );
    expect(leads.fixes).toBe('One action removes 1 finding.');
    expect(leads.hosts).toBe('1 host with 1 open port; 1 of them has findings.');
    expect(leads.services).toBe('1 open port; 1 of them was not recognized.');
  });
});

it('coverage says what was not tried', () => {
  const ports = { open: 1, closed: 1, filtered: 0, notTried: 2, planned: 4 };
  const addresses = { requested: 2, responded: 2, silent: 0, excluded: 0 };
  expect(coverageText({ addresses, ports: { tcp: ports, udp: ports, all: ports } })).toBe(
    '2 of 4 planned ports were not tried. Not looked at: ports beyond the plan and whatever a firewall hid from this place in the network.',
  );
  expect(coverageText({ addresses, ports: null })).toBe(
    'How many ports were tried was not counted. Not looked at: whatever a firewall hid from this place in the network.',
  );
});
