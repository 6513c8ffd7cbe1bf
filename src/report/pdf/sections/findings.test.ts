import { describe, expect, it } from 'vitest';
import type { FindingKind, ReportSummary } from '../../model/report.ts';
import { shownVersions, versionLineText } from '../figures/version-line.ts';
import type { ReportPages } from '../report-pages.ts';
import { entriesOf } from './findings.ts';
import { webLink } from './web-link.ts';

function kinds(count: number, severity: FindingKind['severity'], exploited = false): FindingKind[] {
  return Array.from({ length: count }, () => ({ severity, exploited }) as FindingKind);
}

function summary(findings: number): ReportSummary {
  return { findings } as ReportSummary;
}

describe('entries of findings', () => {
  it('are there for all kinds of a small report', () => {
    const all = [...kinds(5, 'high'), ...kinds(5, 'info')];
    expect(entriesOf({ kinds: all, summary: summary(80) })).toHaveLength(10);
  });

  it('are there for what is critical, high or exploited of a large one', () => {
    const all = [
      ...kinds(2, 'critical'),
      ...kinds(3, 'high'),
      ...kinds(1, 'low', true),
      ...kinds(90, 'medium'),
    ];
    expect(entriesOf({ kinds: all, summary: summary(200) })).toHaveLength(6);
    expect(entriesOf({ kinds: all.slice(0, 20), summary: summary(20_000) })).toHaveLength(6);
  });

  it('are limited', () => {
    expect(entriesOf({ kinds: kinds(4000, 'critical'), summary: summary(4000) })).toHaveLength(300);
  });
});

describe('links of a PDF report', () => {
  const pages = { accent: '#0a6878' } as ReportPages;

  it('lead to https only', () => {
    const [piece] = webLink(pages, 'https://nvd.nist.gov/vuln/detail/CVE-2024-6387');
    expect(piece).toMatchObject({
      text: 'nvd.nist.gov/vuln/detail/CVE-2024-6387',
      link: { url: 'https://nvd.nist.gov/vuln/detail/CVE-2024-6387' },
    });
    for (const other of [
      'http://example.org/',
      'javascript:alert(1)',
      'https:example.org',
      'https://a:b@example.org/',
      'file:///etc/passwd',
      ' https://example.org',
      `https://example.org/${'a'.repeat(600)}`,
    ]) {
      const [shown] = webLink(pages, other);
      expect(shown).toMatchObject({ text: other });
      expect(shown).not.toHaveProperty('link');
    }
  });

  it('are ASCII', () => {
    expect(webLink(pages, 'https://exämple.org/ü')[0]).toMatchObject({
      link: { url: 'https://xn--exmple-cua.org/%C3%BC' },
    });
  });
});

describe('the line of versions', () => {
  const seen = (...hosts: number[]) => hosts.map((count, index) => ({ version: `1.${index}`, hosts: count }));

  it('shows the oldest, the newest and the most frequent of more than five', () => {
    const { shown, left } = shownVersions(seen(1, 1, 9, 2, 1, 8, 7, 1));
    expect(shown.map(({ version }) => version)).toEqual(['1.0', '1.2', '1.5', '1.6', '1.7']);
    expect(left).toBe(3);
    expect(shownVersions(seen(1, 2, 3, 4, 5)).left).toBe(0);
  });

  it('is read as a sentence', () => {
    expect(versionLineText({ from: '8.5p1', fixed: '9.8p1', seen: seen(1, 1) })).toBe(
      'Affected from 8.5p1, fixed in 9.8p1; seen 1.0, 1.1',
    );
    expect(versionLineText({ from: null, fixed: null, seen: [] })).toBe(
      'First affected version not known, no fixed version known',
    );
  });
});
