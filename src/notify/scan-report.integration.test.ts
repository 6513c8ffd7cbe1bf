import { expect, it } from 'vitest';
import { deliveredByEach } from '../../test/each-channel.ts';
import { endedScan } from '../../test/receivers.ts';
import { maxMessageBytes } from './fitting.ts';
import { type ReportDetails, scanReport } from './scan-report.ts';
import type { ShownFinding } from './shown-finding.ts';

const finding: ShownFinding = {
  severity: 'critical',
  host: '192.0.2.7',
  port: 443,
  protocol: 'tcp',
  id: 'CVE-2021-1',
  title: 'Remote code execution',
};
const fixed: ShownFinding = { ...finding, severity: 'low', id: 'CVE-2021-2', title: 'Old cipher' };
const changed: ReportDetails = {
  event: 'scan.changed',
  worst_findings: [],
  changes: {
    against: '20261005-143022-a1b2c3',
    new_count: 3,
    fixed_count: 1,
    not_comparable_hosts: 2,
    new_findings: [finding],
    fixed_findings: [fixed],
  },
};

const sent = (details: ReportDetails) => deliveredByEach(scanReport(endedScan({}), null, details));

it('a completed scan names its worst findings in every kind of message', async () => {
  const { slack, webhook, mail } = await sent({
    event: 'scan.completed',
    worst_findings: [finding, fixed],
    changes: null,
  });
  expect(JSON.parse(webhook)).toMatchObject({ event: 'scan.completed', worst_findings: [finding, fixed] });
  for (const text of [slack, mail]) {
    expect(text).toContain('Finding: critical 192.0.2.7:443 Remote code execution');
    expect(text).toContain('Finding: low 192.0.2.7:443 Old cipher');
  }
});

it('a changed scan says what is new and what is fixed, and against what', async () => {
  const { slack, webhook, mail } = await sent(changed);
  const headline = 'Scan 20261006-143022-a1b2c3 changed: 3 new findings, 1 fixed, highest severity critical';
  expect(JSON.parse(webhook)).toMatchObject({ event: 'scan.changed', changes: changed.changes });
  expect(JSON.parse(slack)).toMatchObject({ text: headline });
  for (const text of [slack, mail]) {
    expect(text).toContain('Compared with: 20261005-143022-a1b2c3');
    expect(text).toContain('New findings: 3');
    expect(text).toContain('Fixed findings: 1');
    expect(text).toContain('Hosts not comparable: 2');
    expect(text).toContain('New: critical 192.0.2.7:443 Remote code execution');
    expect(text).toContain('Fixed: low 192.0.2.7:443 Old cipher');
  }
});

it('hostile findings are neutralized, and as many are listed as fit', async () => {
  const hostile = { ...finding, title: '<!channel> @here & <script>'.repeat(4), host: 'h<b>'.repeat(60) };
  const findings = Array.from({ length: 10 }, () => hostile);
  const { slack, webhook, mail } = await sent({
    ...changed,
    changes: changed.changes && { ...changed.changes, new_findings: findings, fixed_findings: findings },
  });
  for (const message of [slack, webhook, mail])
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(maxMessageBytes);
  expect(slack).not.toMatch(/[<>]|@here/);
  expect(mail.slice(mail.indexOf('text/html'))).not.toContain('<script');
  const { changes } = JSON.parse(webhook) as { changes: { new_count: number; new_findings: unknown[] } };
  expect(changes.new_count).toBe(3);
  expect(changes.new_findings.length).toBeGreaterThan(0);
});
