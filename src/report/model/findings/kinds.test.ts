import { describe, expect, it } from 'vitest';
import type { FindingClass, Severity } from '../../../domain/finding.ts';
import { findingRow, hostRow, portRow, reportOfRows, scored } from '../../fixtures/report-of-rows.ts';

const host = (index: number) => `10.0.${index >> 8}.${index & 255}`;

describe('kinds of findings', () => {
  it('are one per ID and severity, with the hosts that have them', async () => {
    const rows = [
      hostRow('10.0.0.1', { hostnames: ['a.example'] }),
      portRow('10.0.0.1', 22),
      findingRow('10.0.0.1', 22, 'CVE-1', { class: 'likely' }),
      findingRow('10.0.0.1', 23, 'CVE-1', { class: 'likely' }),
      hostRow('10.0.0.2'),
      findingRow('10.0.0.2', 22, 'CVE-1', { class: 'certain', kev: true }),
      findingRow('10.0.0.2', null, 'CVE-1', { severity: 'high' }),
    ];
    const { kinds } = await reportOfRows(rows);
    expect(
      kinds.map(({ severity, hosts, counts, exploited }) => [severity, hosts, counts.all, exploited]),
    ).toEqual([
      ['high', 1, 1, false],
      ['medium', 2, 3, true],
    ]);
    expect(kinds[1]?.places.map(({ host: where, port, class: name }) => [where, port, name])).toEqual([
      ['10.0.0.2', 22, 'certain'],
      ['10.0.0.1', 22, 'likely'],
      ['10.0.0.1', 23, 'likely'],
    ]);
    expect(kinds[1]?.networks).toEqual([{ network: '10.0.0.0/24', hosts: 2, findings: 3 }]);
    expect(kinds[1]?.places[1]?.name).toBe('a.example');
    expect(kinds[0]?.places[0]?.port).toBeNull();
  });

  it('come by severity, then exploited, EPSS, CVSS, hosts and ID', async () => {
    const rows = [
      findingRow('10.0.0.1', 1, 'low', { severity: 'low', kev: true }),
      findingRow('10.0.0.1', 1, 'b-10'),
      findingRow('10.0.0.1', 1, 'b-9'),
      findingRow('10.0.0.1', 1, 'cvss', scored(null, 5)),
      findingRow('10.0.0.1', 1, 'epss', scored(0.2, 4)),
      findingRow('10.0.0.1', 1, 'kev', { kev: true }),
      findingRow('10.0.0.1', 1, 'odd', { severity: 'severe' as Severity }),
      findingRow('10.0.0.1', 1, 'critical', { severity: 'critical' }),
      findingRow('10.0.0.2', 1, 'b-10'),
    ];
    const { kinds } = await reportOfRows(rows);
    expect(kinds.map(({ id }) => id)).toEqual([
      'critical',
      'kev',
      'epss',
      'cvss',
      'b-10',
      'b-9',
      'low',
      'odd',
    ]);
    expect(kinds.at(-1)?.severity).toBe('info');
  });

  it('take the highest scores, and none that is no number', async () => {
    const bad = { score: Number.NaN, percentile: 0 };
    const { kinds } = await reportOfRows([
      findingRow('10.0.0.1', 1, 'a', { epss: bad, cvss: { version: '3.1', score: Number.NaN, vector: '' } }),
      findingRow('10.0.0.1', 2, 'a', scored(0.1, 7)),
      findingRow('10.0.0.1', 3, 'a', scored(0.3, 5)),
      findingRow('10.0.0.1', 4, 'a', { epss: { score: '1' as unknown as number, percentile: 1 } }),
    ]);
    expect([kinds[0]?.epss, kinds[0]?.cvss?.score]).toEqual([0.3, 7]);
  });

  it('name certain places first, and count those beyond the maximum', async () => {
    const classes: FindingClass[] = ['possible', 'likely', 'certain'];
    const rows = Array.from({ length: 900 }, (_, index) =>
      findingRow(host(index), 80, 'CVE-1', { class: classes[Math.floor(index / 300)] as FindingClass }),
    );
    const [kind] = (await reportOfRows(rows)).kinds;
    expect(kind?.places.length).toBe(500);
    expect(kind?.placesLeft).toBe(400);
    const named = kind?.places.map((place) => place.class) ?? [];
    expect([
      named.filter((name) => name === 'certain').length,
      named.filter((name) => name === 'likely').length,
    ]).toEqual([300, 200]);
    expect(kind?.places[0]?.host).toBe(host(600));
    expect(kind?.networks).toEqual([
      { network: '10.0.0.0/24', hosts: 256, findings: 256 },
      { network: '10.0.1.0/24', hosts: 256, findings: 256 },
      { network: '10.0.2.0/24', hosts: 256, findings: 256 },
      { network: '10.0.3.0/24', hosts: 132, findings: 132 },
    ]);
  });

  it('have anchors of their own whatever the IDs are', async () => {
    const ids = [
      'a b',
      'a/b',
      'a-b',
      '__proto__',
      'constructor',
      '"><script>',
      'x'.repeat(100_000),
      `${'x'.repeat(99_999)}y`,
    ];
    const rows = ids.flatMap((id) => [
      findingRow('10.0.0.1', 1, id),
      findingRow('10.0.0.1', 1, id, { severity: 'low' }),
    ]);
    const { kinds } = await reportOfRows(rows);
    expect(kinds.length).toBe(2 * ids.length);
    expect(new Set(kinds.map(({ anchor }) => anchor)).size).toBe(kinds.length);
    for (const { anchor, id } of kinds) {
      expect(anchor).toMatch(/^f-[0-9A-Za-z.-]+$/);
      expect(id.length).toBeLessThanOrEqual(200);
    }
  });

  it('beyond the maximum of one severity are counted, and leave room for other severities', async () => {
    const rows = [
      ...Array.from({ length: 4100 }, (_, index) =>
        findingRow('10.0.0.1', 1, `flood-${index}`, { severity: 'info' }),
      ),
      findingRow('10.0.0.1', 1, 'flood-4099', { severity: 'info' }),
      findingRow('10.0.0.2', 1, 'CVE-1', { severity: 'critical' }),
    ];
    const report = await reportOfRows(rows);
    expect(report.kindsLeft).toEqual({ kinds: 100, findings: 101 });
    expect(report.kinds[0]?.id).toBe('CVE-1');
    expect(report.kinds.length).toBe(4001);
    expect(report.summary.findings).toBe(4102);
    expect(report.actions.reduce((sum, { findings }) => sum + findings, 0)).toBe(4102);
  });

  it('keep texts of limited length and the first clause of a note for each place', async () => {
    const huge = 'word '.repeat(200_000);
    const [kind] = (
      await reportOfRows([
        findingRow('10.0.0.1', 1, 'a', {
          title: huge,
          remediation: huge,
          affected: huge,
          backport_note: `The host runs Debian 12: if it is a package, ${huge}`,
          references: [
            'https://example.org/1',
            `https://example.org/${'x'.repeat(1000)}`,
            'https://example.org/1',
          ],
        }),
      ])
    ).kinds;
    expect(kind?.title.length).toBeLessThanOrEqual(300);
    expect([kind?.remediation.length, kind?.affected?.length]).toEqual([4000, 4000]);
    expect(kind?.places[0]?.note).toBe('The host runs Debian 12');
    expect(kind?.references).toEqual(['https://example.org/1']);
    expect(kind?.backported).toBe(1);
  });

  it('name the modules and plugins that found them', async () => {
    const producer = { name: 'my_plugin', version: '1.2.3', sha256: 'ab'.repeat(32) };
    const { kinds } = await reportOfRows([
      findingRow('10.0.0.1', 1, 'a'),
      { ...findingRow('10.0.0.2', 1, 'a', { plugin: 'my_module' }), producer },
    ]);
    expect(kinds[0]?.foundBy).toEqual(['misconfig_checker', 'my_module', 'plugin my_plugin 1.2.3']);
  });
});
