import { describe, expect, test } from 'vitest';
import { runModule, tryModule } from '../../../test/module-trial.ts';
import type { HostFinding } from '../../domain/finding.ts';
import { worstFirst } from '../../domain/finding-order.ts';
import type { Fingerprint } from '../../domain/service.ts';
import { builtinCves } from '../../knowledge/vulndb/builtin.ts';
import type { CveRecord, CveSource } from '../../knowledge/vulndb/cve-record.ts';
import { withBuiltin } from '../../knowledge/vulndb/with-builtin.ts';
import matcher from './cve_matcher.ts';

const host = '192.0.2.1';

const seen = (
  port: number,
  cpe: string | null,
  version: string | null,
  more: Partial<Fingerprint> = {},
): Fingerprint => ({
  host,
  port,
  protocol: 'tcp',
  match: 'test',
  product: 'Product',
  vendor: null,
  version,
  cpe,
  confidence: 0.98,
  source: 'banner',
  evidence: 'what it said',
  alternatives: [],
  ...more,
});

const openssh = (version: string, update: string, revision?: string) =>
  seen(22, `cpe:2.3:a:openbsd:openssh:${version}:${update}:*:*:*:*:*:*`, `${version}${update}`, {
    product: 'OpenSSH',
    evidence: `SSH-2.0-OpenSSH_${version}${update}${revision ? ` ${revision}` : ''}`,
    ...(revision ? { revision } : {}),
  });
const apache = (version: string, more: Partial<Fingerprint> = {}) =>
  seen(80, `cpe:2.3:a:apache:http_server:${version}:*:*:*:*:*:*:*`, version, {
    product: 'Apache httpd',
    ...more,
  });

const run = (fingerprints: Fingerprint[], config: Record<string, unknown> = {}, profiles: object[] = []) =>
  runModule<HostFinding>(matcher, { service_fingerprints: fingerprints, asset_profiles: profiles }, config);
const ids = (findings: HostFinding[]) => findings.map(({ id }) => id);

/** Imported data of one record, with the methods that the module calls. */
const imported = (record: Partial<CveRecord>, more: Partial<CveSource> = {}): CveSource =>
  withBuiltin({
    version: '20261121T000000Z-abcdef',
    lacks: null,
    lookup: (vendor, product) =>
      vendor === 'apache' && product === 'http_server'
        ? [{ ...(builtinCves.lookup(vendor, product)[0] as CveRecord), source: 'nvd', ...record }]
        : [],
    rank: () => ({ kev: null, epss: null }),
    fixes: () => [],
    knowsDistribution: () => false,
    ...more,
  });

describe('cve_matcher', () => {
  test('a finding has everything that proves it and says what to do', async () => {
    const findings = await run([apache('2.4.49')]);
    const finding = findings.find(({ id }) => id === 'CVE-2021-41773');
    expect(finding).toMatchObject({
      host,
      port: 80,
      protocol: 'tcp',
      severity: 'high',
      cvss: { version: '3.1', score: 7.5, vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' },
      kev: true,
      epss: null,
      cpe: 'cpe:2.3:a:apache:http_server:2.4.49:*:*:*:*:*:*:*',
      detected: '2.4.49',
      backport_note: expect.stringContaining('The version alone does not show who built the program'),
      class: 'possible',
      evidence: 'what it said',
      plugin: 'cve_matcher',
    });
    expect(finding?.affected).toContain('2.4.49');
    expect(finding?.references[0]).toBe('https://nvd.nist.gov/vuln/detail/CVE-2021-41773');
    expect(finding?.remediation).toContain('Apache httpd');
    expect(finding?.title).toBeTruthy();
  });

  test('a finding names the update that removes it, and the versions where it begins and ends', async () => {
    const finding = (await run([openssh('9.7', 'p1')])).find(({ id }) => id === 'CVE-2024-6387');
    expect(finding).toMatchObject({
      affected_from: '8.5',
      fixed_in: '9.8',
      action: { key: 'update openbsd:openssh', text: 'Update OpenSSH', update: true },
    });
    const long = seen(22, 'cpe:2.3:a:openbsd:openssh:9.7:p1:*:*:*:*:*:*', '9.7p1', {
      product: 'x'.repeat(500),
    });
    expect((await run([long]))[0]?.action?.text).toHaveLength(120);
  });

  test('the findings of a port come worst first', async () => {
    const findings = await run([apache('2.4.49')]);
    expect(ids(findings)).toEqual(ids(worstFirst(findings, (finding) => finding)));
    expect(findings[0]?.id).toBe('CVE-2021-42013');
  });

  test('a version outside the range has no finding, a missing version only on request', async () => {
    expect(ids(await run([openssh('10.2', 'p1')]))).toEqual([]);
    expect(ids(await run([openssh('9.7', 'p1')]))).toContain('CVE-2024-6387');
    const unversioned = [seen(80, 'cpe:2.3:a:apache:http_server:*:*:*:*:*:*:*:*', null)];
    expect(ids(await run(unversioned))).toEqual([]);
    const requested = await run(unversioned, { include_unversioned: true });
    expect(ids(requested)).toContain('CVE-2021-42013');
    expect(requested.every(({ confidence }) => confidence < 0.2)).toBe(true);
  });

  test('a version that distributions patch is a possible finding with both remediations', async () => {
    // Red Hat's do not say that they are Red Hat's.
    const plain = (version: string) =>
      seen(22, `cpe:2.3:a:openbsd:openssh:${version}:*:*:*:*:*:*:*`, version, { product: 'OpenSSH' });
    const kept = (await run([plain('8.7')])).find(({ id }) => id === 'CVE-2024-6387');
    const own = (await run([plain('8.6')])).find(({ id }) => id === 'CVE-2024-6387');
    expect(own?.backport_note).toContain('who built the program');
    expect(own?.confidence).toBeCloseTo(0.55 * 0.98, 2);
    expect(kept?.confidence).toBeCloseTo(0.4 * 0.98, 2);
    expect(kept?.backport_note).toContain('Red Hat Enterprise Linux 9');
    expect(kept?.remediation).toMatch(/^Update OpenSSH to .+ or later\..* distribution's package/);
  });

  test('reports a distribution build with unknown fix with a note and lower confidence', async () => {
    const own = (await run([openssh('9.2', 'p1')])).find(({ id }) => id === 'CVE-2024-6387');
    const debian = (await run([openssh('9.2', 'p1', 'Debian-2+deb12u2')])).find(
      ({ id }) => id === 'CVE-2024-6387',
    );
    expect(debian?.confidence).toBeLessThan(own?.confidence ?? 0);
    expect(debian?.backport_note).toContain('2+deb12u2');
    expect(debian?.class).toBe('possible');
    expect(debian?.backport_note).toMatch(
      /The data here is the builtin list of \d+ CVEs, without EPSS scores and the fixes of distributions: portolan vulndb sync fetches them\.$/,
    );
    expect(debian?.remediation).toContain("distribution's security update");
  });

  test('what the installed revision fixes is no finding: the last record of a port holds', async () => {
    const source = withBuiltin({
      version: 'test',
      lacks: null,
      lookup: () => [],
      rank: () => ({ kev: null, epss: null }),
      fixes: (_distribution, _release, cve) => [
        { distribution: 'debian', release: '12', package: 'openssh', cve, fixed: '1:9.2p1-2+deb12u3' },
      ],
      knowsDistribution: () => true,
    });
    const evaluated = async (...fingerprints: Fingerprint[]) => {
      const inputs = { service_fingerprints: fingerprints };
      const { published } = await tryModule(matcher, { inputs, vulnerabilities: source });
      return ids((published.get('vulnerabilities') ?? []) as HostFinding[]);
    };
    expect(await evaluated(openssh('9.2', 'p1', 'Debian-2+deb12u2'))).toContain('CVE-2024-6387');
    expect(await evaluated(openssh('9.2', 'p1'), openssh('9.2', 'p1', 'Debian-2+deb12u3'))).toEqual([]);
  });

  test('where updates do not show in the version, a flaw is a possibility with a note', async () => {
    const version = '12.2.1.4.0';
    const weblogic = seen(7001, `cpe:2.3:a:oracle:weblogic_server:${version}:*:*:*:*:*:*:*`, version);
    const finding = (await run([weblogic])).find(({ id }) => id === 'CVE-2020-14882');
    expect(finding?.confidence).toBeCloseTo(0.392, 3);
    expect(finding?.backport_note).toContain('does not show');
    expect(finding?.remediation).toContain("Install the vendor's update");
    expect(finding?.action).toEqual({
      key: "install the vendor's update oracle:weblogic_server",
      text: "Install the vendor's update for Product",
      update: false,
    });
  });

  test('the filters leave out what is not wanted', async () => {
    const all = await run([apache('2.4.49')]);
    const severe = await run([apache('2.4.49')], { min_severity: 'critical' });
    expect(severe.length).toBeLessThan(all.length);
    expect(severe.every(({ severity }) => severity === 'critical')).toBe(true);
    const exploited = await run([apache('2.4.49')], { kev_only: true });
    expect(exploited.length).toBeGreaterThan(0);
    expect(exploited.every(({ kev }) => kev)).toBe(true);
    expect(await run([apache('2.4.49', { confidence: 0.5 })], { min_confidence: 60 })).toEqual([]);
  });

  test('evaluates further products of a port too, each vulnerability once', async () => {
    const php = seen(80, 'cpe:2.3:a:php:php:7.3.10:*:*:*:*:*:*:*', '7.3.10', { product: 'PHP' });
    const { host: _, port: __, protocol: ___, alternatives: ____, ...alternative } = php;
    const findings = await run([apache('2.4.49', { alternatives: [alternative] })]);
    expect(ids(findings)).toContain('CVE-2019-11043');
    expect(new Set(ids(findings)).size).toBe(findings.length);
  });

  test('the platform that a flaw needs may come from the profile of the host', async () => {
    const php = [seen(80, 'cpe:2.3:a:php:php:8.2.5:*:*:*:*:*:*:*', '8.2.5', { product: 'PHP' })];
    const os = (family: string) => [
      { host, os: { family, distribution: null, version: null, confidence: 0.9 } },
    ];
    const confidence = async (profiles: object[]) =>
      (await run(php, {}, profiles)).find(({ id }) => id === 'CVE-2024-4577')?.confidence ?? 0;
    expect(await confidence(os('windows'))).toBeGreaterThan(await confidence([]));
    expect(await confidence(os('linux'))).toBe(0);
  });

  test('imported records go before builtin ones of the same id, which fill what it lacks', async () => {
    const source = imported(
      { id: 'CVE-2021-41773', title: null, description: 'Imported words. More of them.', cvss: [] },
      { rank: () => ({ kev: null, epss: { score: 0.9, percentile: 0.99 } }) },
    );
    const inputs = { service_fingerprints: [apache('2.4.49')] };
    const { published } = await tryModule(matcher, { inputs, vulnerabilities: source });
    const findings = (published.get('vulnerabilities') ?? []) as HostFinding[];
    const same = findings.filter(({ id }) => id === 'CVE-2021-41773');
    expect(same).toHaveLength(1);
    // The title and the score that it lacks are those of the builtin catalog.
    expect(same[0]?.title).toContain('Encoded dots');
    expect(same[0]).toMatchObject({
      cvss: { score: 7.5 },
      kev: true,
      epss: { score: 0.9, percentile: 0.99 },
    });
    expect(ids(findings)).toContain('CVE-2021-42013');
  });

  test('without any score what is exploited is no trifle, and the description gives the title', async () => {
    const record = {
      id: 'CVE-2099-1000',
      title: null,
      description: 'Imported words. More of them.',
      cvss: [],
    };
    const evaluated = async (kev: { added: string; ransomware: boolean } | null) => {
      const vulnerabilities = imported(record, { rank: () => ({ kev, epss: null }) });
      const inputs = { service_fingerprints: [apache('2.4.49')] };
      const { published } = await tryModule(matcher, { inputs, vulnerabilities });
      const findings = (published.get('vulnerabilities') ?? []) as HostFinding[];
      return findings.find(({ id }) => id === 'CVE-2099-1000');
    };
    expect(await evaluated(null)).toMatchObject({
      title: 'Imported words.',
      severity: 'info',
      cvss: null,
      kev: false,
    });
    expect(await evaluated({ added: '2099-01-01', ransomware: false })).toMatchObject({
      severity: 'high',
      kev: true,
    });
  });

  test('an imported record that clears a version is not overruled by the builtin one', async () => {
    const configurations = [
      {
        operator: 'OR' as const,
        negate: false,
        nodes: [
          {
            operator: 'OR' as const,
            negate: false,
            matches: [
              {
                vulnerable: true,
                cpe: 'cpe:2.3:a:apache:http_server:*:*:*:*:*:*:*:*',
                startIncluding: null,
                startExcluding: null,
                endIncluding: null,
                endExcluding: '2.0',
              },
            ],
          },
        ],
      },
    ];
    const inputs = { service_fingerprints: [apache('2.4.49')] };
    const vulnerabilities = imported({ id: 'CVE-2021-41773', configurations });
    const { published } = await tryModule(matcher, { inputs, vulnerabilities });
    expect(ids((published.get('vulnerabilities') ?? []) as HostFinding[])).not.toContain('CVE-2021-41773');
  });

  test('hostile names and versions are no findings and no crash', async () => {
    const odd = ['', '*', '-', '9'.repeat(100_000), '9.2p1\u0000', '../..', '🦊', '1e999', '$(id)'];
    const findings = await run(
      odd.flatMap((version, index) => [
        seen(index + 1, `cpe:2.3:a:openbsd:openssh:${version}:*:*:*:*:*:*:*`, version),
        seen(index + 100, version, version),
      ]),
    );
    for (const { detected } of findings) expect(odd).toContain(detected);
  });

  test('hosts by the thousand are matched', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => ({
      ...apache('2.4.49'),
      host: `198.51.${index >> 8}.${index & 255}`,
    }));
    const findings = await run(many, { kev_only: true });
    expect(new Set(findings.map((finding) => finding.host)).size).toBe(5000);
  });
});
