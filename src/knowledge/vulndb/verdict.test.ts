import { describe, expect, test } from 'vitest';
import { builtinCves } from './builtin.ts';
import type { CpeMatch, CveRank, CveRecord, CveSource, DistroFix } from './cve-record.ts';
import { assess, findCves, type HostFacts, rankReason, type SeenProduct } from './verdict.ts';

const nowhere: HostFacts = { os: null, others: [] };
const onDebian: HostFacts = { os: { family: 'linux', distribution: 'debian', version: '12' }, others: [] };

function criterion(product: string, bounds: Partial<CpeMatch>): CpeMatch {
  return {
    vulnerable: true,
    cpe: `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`,
    startIncluding: null,
    startExcluding: null,
    endIncluding: null,
    endExcluding: null,
    ...bounds,
  };
}

function record(id: string, score: number, ...matches: CpeMatch[]): CveRecord {
  return {
    id,
    title: null,
    description: '',
    published: '2024-01-01T00:00:00.000Z',
    modified: '2024-01-01T00:00:00.000Z',
    cvss: [{ version: '3.1', score, vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N' }],
    cwe: [],
    references: [],
    configurations: [{ operator: 'OR', negate: false, nodes: [{ operator: 'OR', negate: false, matches }] }],
    rejected: false,
    source: 'test',
  };
}

const openssh = record('CVE-2024-0001', 8.1, criterion('openbsd:openssh', { endExcluding: '9.8' }));

function seen(product: string, version: string | null, more: Partial<SeenProduct> = {}): SeenProduct {
  return { cpe: `cpe:2.3:a:${product}:${version ?? '*'}:*:*:*:*:*:*:*`, version, confidence: 1, ...more };
}

interface Facts {
  records?: CveRecord[];
  fixes?: DistroFix[];
  ranks?: Record<string, CveRank>;
}

function source({ records = [], fixes = [], ranks = {} }: Facts = {}): CveSource {
  return {
    version: 'test',
    lacks: null,
    lookup: (vendor, product) =>
      records.filter((each) =>
        JSON.stringify(each.configurations).includes(`cpe:2.3:a:${vendor}:${product}:`),
      ),
    rank: (id) => ranks[id] ?? { kev: null, epss: null },
    fixes: (distribution, release, cve) =>
      fixes.filter((fix) => fix.distribution === distribution && fix.release === release && fix.cve === cve),
    knowsDistribution: (distribution, release) =>
      fixes.some((fix) => fix.distribution === distribution && fix.release === release),
  };
}

function fix(cve: string, fixed: string | null, name = 'openssh'): DistroFix {
  return { distribution: 'debian', release: '12', package: name, cve, fixed };
}

describe('how sure a claim is', () => {
  const debian = (revision: string) => seen('openbsd:openssh', '9.2p1', { revision: `Debian-${revision}` });

  test('what the installed revision fixes is not reported', () => {
    const verdict = assess(
      openssh,
      debian('2+deb12u3'),
      nowhere,
      source({ fixes: [fix(openssh.id, '1:9.2p1-2+deb12u3')] }),
    );
    expect(verdict).toMatchObject({ class: 'none', outcome: 'fixed_by_vendor', confidence: 0 });
    expect(verdict.backportNote).toContain('has the fix');
  });

  test("the distribution's word makes it certain", () => {
    const data = source({ fixes: [fix(openssh.id, '1:9.2p1-2+deb12u3')] });
    const verdict = assess(openssh, debian('2+deb12u2'), nowhere, data);
    expect(verdict).toMatchObject({
      class: 'certain',
      confidence: 0.95,
      affected: '< 9.8',
      detected: '9.2p1',
    });
    expect(
      assess(openssh, debian('2+deb12u9'), nowhere, source({ fixes: [fix(openssh.id, null)] })).class,
    ).toBe('certain');
  });

  test('a revision without data is possible, and the note says what to compare', () => {
    const verdict = assess(openssh, debian('2+deb12u2'), nowhere, source());
    expect(verdict).toMatchObject({ class: 'possible', confidence: 0.5 });
    expect(verdict.backportNote).toBe(
      "Debian revision 2+deb12u2 seen: compare it with the distribution's fixed revision before acting.",
    );
    expect(verdict.reasons).toContain(verdict.backportNote);
  });

  test('a distribution without a revision is possible at most', () => {
    const apache = record('CVE-2024-0002', 9, criterion('apache:http_server', { endExcluding: '2.4.60' }));
    const verdict = assess(
      apache,
      seen('apache:http_server', '2.4.52', { revision: 'Ubuntu' }),
      nowhere,
      source(),
    );
    expect(verdict).toMatchObject({ class: 'possible', confidence: 0.4 });
    const presumed = assess(apache, seen('apache:http_server', '2.4.52'), onDebian, source());
    expect(presumed).toMatchObject({ class: 'possible', confidence: 0.4 });
    expect(presumed.backportNote).toMatch(/^The host runs Debian 12/);
  });

  test('an upstream build is certain, a version alone is possible at most', () => {
    const apache = record('CVE-2024-0002', 9, criterion('apache:http_server', { endExcluding: '2.4.60' }));
    const upstream = seen('apache:http_server', '2.4.52', { revision: 'Win64' });
    expect(assess(apache, upstream, nowhere, source())).toMatchObject({ class: 'certain', confidence: 0.95 });
    expect(assess(apache, seen('apache:http_server', '2.4.52'), nowhere, source())).toMatchObject({
      class: 'possible',
      confidence: 0.55,
      backportNote: expect.stringContaining('The version alone does not show who built the program'),
    });
  });

  test.each(['vendor:product', 'apache:activemq', 'zabbix:zabbix', 'f5:nginx'])(
    'the version of %s alone is possible at most, on any Linux',
    (product) => {
      const flaw = record('CVE-2024-0009', 9, criterion(product, { endExcluding: '99' }));
      expect(assess(flaw, seen(product, '1.2.3'), nowhere, source()).class).toBe('possible');
      expect(assess(flaw, seen(product, '1.2.3'), onDebian, source()).class).toBe('possible');
    },
  );

  test('a number is compared on its own scale: that of the ssh application of Erlang is no OTP release', () => {
    const ids = (product: string, version: string) =>
      findCves(seen(product, version), nowhere, builtinCves).map(({ record: { id } }) => id);
    expect(ids('erlang:ssh', '4.15.3.12')).toEqual([]);
    expect(ids('erlang:ssh', '5.1.4.8')).toEqual([]);
    expect(ids('erlang:ssh', '5.2.10')).toEqual([]);
    expect(ids('erlang:ssh', '5.2.9')).toEqual(['CVE-2025-32433']);
    expect(ids('erlang:erlang\\/otp', '25.3.2')).toEqual(['CVE-2025-32433']);
  });

  describe('builds of others than upstream', () => {
    const ssh = record('CVE-2024-6387', 8.1, criterion('openbsd:openssh', { endExcluding: '9.8' }));
    const windows = { family: 'windows', distribution: null, version: null };
    const classes = (flaw: CveRecord, product: SeenProduct, host = nowhere) =>
      assess(flaw, product, host, source()).class;

    test.each(['9.5', '8.1', '7.7'])(
      'OpenSSH %s for Windows lacks what Microsoft says it lacks',
      (version) => {
        const build = seen('openbsd:openssh', version, { revision: 'for Windows', os: windows });
        const verdict = assess(ssh, build, nowhere, source());
        expect(verdict).toMatchObject({ class: 'none', outcome: 'not_affected' });
        expect(verdict.reasons.at(-1)).toMatch(/^It is OpenSSH for Windows, whose maker states/);
      },
    );

    test('other flaws of upstream are at most possible there, and the reasons say why', () => {
      const build = seen('openbsd:openssh', '8.1', { revision: 'for Windows', os: windows });
      const verdict = assess(openssh, build, nowhere, source());
      expect(verdict).toMatchObject({ class: 'possible', confidence: 0.35 });
      expect(verdict.reasons.at(-1)).toMatch(/versions of upstream need not hold/);
      expect(classes(openssh, seen('openbsd:openssh', '8.1', { os: windows }))).toBe('possible');
      expect(classes(openssh, seen('openbsd:openssh', '8.1'), { os: windows, others: [] })).toBe('possible');
    });

    test.each([
      ['oracle:mysql', '5.7.12', 'cll-lve'],
      ['oracle:mysql', '8.0.28', 'azure'],
      ['oracle:mysql', '5.7.25', 'SomeDB-v4'],
      ['mariadb:mariadb', '10.6.16', 'cll-lve'],
      ['redis:redis', '7.1.0', 'Amazon ElastiCache'],
      ['redis:redis', '3.2.100', 'Windows'],
      ['openbsd:openssh', '9.6', 'NetBSD_Secure_Shell-20231220-hpn13v14-lpk'],
    ])('a build of %s %s with the suffix %s is at most possible', (product, version, revision) => {
      const flaw = record('CVE-2024-0009', 9, criterion(product, { endExcluding: '99' }));
      expect(classes(flaw, seen(product, version, { revision }))).toBe('possible');
    });

    test.each([
      ['oracle:mysql', '5.7.41', 'log'],
      ['redis:redis', '7.1.1', undefined],
      ['php:php', '7.1.9', 'fips'],
    ])(
      '%s %s with the suffix %s is a build of upstream or of unknown origin',
      (product, version, revision) => {
        const flaw = record('CVE-2024-0009', 9, criterion(product, { endExcluding: '99' }));
        expect(assess(flaw, seen(product, version, { revision }), nowhere, source())).toMatchObject({
          class: 'possible',
          confidence: 0.55,
        });
      },
    );

    test('a product that upstream does not build for Windows is at most possible there', () => {
      const flaw = record('CVE-2024-0009', 9, criterion('squid-cache:squid', { endExcluding: '99' }));
      expect(classes(flaw, seen('squid-cache:squid', '4.14', { os: windows }))).toBe('possible');
      const apache = record('CVE-2024-0009', 9, criterion('apache:http_server', { endExcluding: '99' }));
      expect(classes(apache, seen('apache:http_server', '2.4.52', { os: windows }))).toBe('certain');
    });

    test('a record about the platform itself holds there', () => {
      const flaw = criterion('openbsd:openssh', { endExcluding: '9.8' });
      flaw.cpe = 'cpe:2.3:a:openbsd:openssh:*:*:*:*:*:windows:*:*';
      const build = seen('openbsd:openssh', '9.5', { revision: 'for Windows', os: windows });
      expect(classes(record('CVE-2025-0001', 9, flaw), build)).toBe('certain');
    });
  });

  test('a product that is not sure is never certain', () => {
    const confluence = record(
      'CVE-2024-0003',
      9,
      criterion('atlassian:confluence_server', { endExcluding: '8' }),
    );
    const at = (confidence: number) =>
      assess(confluence, seen('atlassian:confluence', '7.13.6', { confidence }), nowhere, source());
    expect(at(0.9)).toMatchObject({ class: 'certain', confidence: 0.855 });
    expect(at(0.6)).toMatchObject({ class: 'likely', confidence: 0.45 });
  });

  test('weak records, unproven platforms and unknown versions are possible at most', () => {
    const weak = record('CVE-2007-2768', 4, criterion('openbsd:openssh', {}));
    expect(assess(weak, seen('openbsd:openssh', '9.2p1'), nowhere, source())).toMatchObject({
      class: 'possible',
      outcome: 'applies',
      confidence: 0.2,
    });
    const plugin = criterion('vendor:product', { endExcluding: '2' });
    plugin.cpe = 'cpe:2.3:a:vendor:product:*:*:*:*:*:wordpress:*:*';
    expect(assess(record('CVE-1', 9, plugin), seen('vendor:product', '1'), nowhere, source())).toMatchObject({
      class: 'possible',
      outcome: 'platform_unproven',
      confidence: 0.3,
    });
    expect(assess(openssh, seen('openbsd:openssh', null), nowhere, source())).toMatchObject({
      class: 'possible',
      outcome: 'unknown_version',
      confidence: 0.1,
      detected: null,
    });
  });

  test('what is not affected is not reported', () => {
    expect(assess(openssh, seen('openbsd:openssh', '9.9p1'), nowhere, source())).toMatchObject({
      class: 'none',
      outcome: 'not_affected',
      confidence: 0,
    });
  });

  test('the host fills in the release that a banner leaves out', () => {
    const nginx = record('CVE-2024-0004', 7, criterion('f5:nginx', { endExcluding: '1.25' }));
    const data = source({ fixes: [fix(nginx.id, '1.22.0-1', 'nginx')] });
    const banner = seen('f5:nginx', '1.22.1', {
      revision: 'Debian',
      os: { family: 'linux', distribution: 'debian', version: null },
    });
    expect(assess(nginx, banner, nowhere, data).class).toBe('possible');
    expect(assess(nginx, banner, onDebian, data).outcome).toBe('fixed_by_vendor');
  });
});

describe('what is found', () => {
  const redis = record('CVE-2024-0005', 8, criterion('redislabs:redis', { endExcluding: '7.2' }));
  const both = record(
    'CVE-2024-0006',
    9,
    criterion('redis:redis', { endExcluding: '7.2' }),
    criterion('redislabs:redis', { endExcluding: '7.2' }),
  );
  const past = record('CVE-2024-0007', 9, criterion('redis:redis', { endExcluding: '6' }));

  test('under every name of the product, each once', () => {
    const data = source({
      records: [redis, both, past],
      ranks: { [redis.id]: { kev: { added: '2024-02-01', ransomware: false }, epss: null } },
    });
    const found = findCves(seen('redis:redis', '7.0.15'), nowhere, data);
    expect(found.map(({ record: { id } }) => id)).toEqual([both.id, redis.id]);
    expect(found[1]?.rank.kev?.added).toBe('2024-02-01');
  });

  test('a text that is no CPE name finds nothing', () => {
    expect(
      findCves({ cpe: 'redis', version: '7', confidence: 1 }, nowhere, source({ records: [redis] })),
    ).toEqual([]);
  });
});

test('the reason for a rank names what decides', () => {
  const cvss = { version: '3.1', score: 8.1, vector: '' };
  expect(rankReason({ kev: true, epss: { score: 0.9432, percentile: 0.943 }, cvss })).toBe(
    'known to be exploited; EPSS 0.943 (percentile 0.943); CVSS 3.1 8.1',
  );
  expect(rankReason({ kev: false, epss: null, cvss: null })).toBe(
    'not known to be exploited; no EPSS score; no CVSS score',
  );
});
