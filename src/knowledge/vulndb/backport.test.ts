import { describe, expect, test } from 'vitest';
import { evaluateBackport, type PackageBuild, readBuild, type SeenBuild } from './backport.ts';
import type { CveSource, DistroFix } from './cve-record.ts';

const cve = 'CVE-2024-0001';

function cpe(product: string): string {
  return `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`;
}

function seen(product: string, version: string, revision?: string, os?: string): SeenBuild {
  const [family = '', distribution = null, release = null] = os?.split(' ') ?? [];
  return {
    cpe: cpe(product),
    version,
    ...(revision === undefined ? {} : { revision }),
    ...(os === undefined ? {} : { os: { family, distribution, version: release } }),
  };
}

/**
 * Statements of distributions: `debian 12 openssh 1:9.2p1-2+deb12u3`; a last word `-` = not fixed, none = no statement.
 */
function source(...statements: string[]): CveSource {
  const fixes: (DistroFix & { said: boolean })[] = statements.map((statement) => {
    const [distribution = '', release = '', name = '', fixed] = statement.split(' ');
    return {
      distribution,
      release,
      package: name,
      cve,
      fixed: fixed === '-' ? null : (fixed ?? null),
      said: fixed !== undefined,
    };
  });
  return {
    version: 'test',
    lacks: null,
    lookup: () => [],
    rank: () => ({ kev: null, epss: null }),
    fixes: (distribution, release) =>
      fixes.filter((fix) => fix.said && fix.distribution === distribution && fix.release === release),
    knowsDistribution: (distribution, release) =>
      fixes.some((fix) => fix.distribution === distribution && fix.release === release),
  };
}

describe('who built a program', () => {
  test.each<[SeenBuild, Partial<PackageBuild>]>([
    [
      seen('openbsd:openssh', '9.2p1', 'Debian-2+deb12u3'),
      {
        origin: 'distribution',
        distribution: 'debian',
        release: '12',
        version: '1:9.2p1-2+deb12u3',
        revision: '2+deb12u3',
      },
    ],
    [
      seen('openbsd:openssh', '8.9p1', 'Ubuntu-3ubuntu0.10'),
      { distribution: 'ubuntu', release: '22.04', version: '1:8.9p1-3ubuntu0.10' },
    ],
    [seen('openbsd:openssh', '9.2p1', 'Debian-2'), { release: '12', version: '1:9.2p1-2' }],
    [seen('openbsd:openssh', '5.1p1', 'Debian-5ubuntu1'), { distribution: 'ubuntu', release: null }],
    [seen('openbsd:openssh', '8.4p1', 'Raspbian-5+deb11u1'), { distribution: 'raspbian', release: '11' }],
    [
      seen('openbsd:openssh', '9.6', 'FreeBSD-20240806', 'freebsd'),
      { distribution: 'freebsd', version: '20240806', release: null },
    ],
    [
      seen('mariadb:mariadb', '10.11.6', '0+deb12u1'),
      { distribution: 'debian', release: '12', version: '1:10.11.6-0+deb12u1' },
    ],
    [
      seen('oracle:mysql', '8.0.36', '0ubuntu0.22.04.1'),
      { distribution: 'ubuntu', release: '22.04', version: '8.0.36-0ubuntu0.22.04.1' },
    ],
    [
      seen('isc:bind', '9.18.24', '1~deb12u2-Debian'),
      { distribution: 'debian', release: '12', version: '1:9.18.24-1~deb12u2' },
    ],
    [
      seen('cyrus:imap', '3.6.1', 'Debian-3.6.1-4+deb12u2'),
      { distribution: 'debian', release: '12', version: '3.6.1-4+deb12u2' },
    ],
    [
      seen('isc:bind', '9.11.4-P2', 'RedHat-9.11.4-26.P2.el7_9.15'),
      { distribution: 'rhel', release: '7', version: '32:9.11.4-26.P2.el7_9.15' },
    ],
    [
      seen('isc:bind', '9.16.23', '18.el9_4.6'),
      { distribution: 'rhel', release: '9', version: '32:9.16.23-18.el9_4.6', packages: ['bind'] },
    ],
    [
      seen('apache:http_server', '2.4.52', 'Ubuntu'),
      { origin: 'distribution', distribution: 'ubuntu', release: '22.04', version: null, revision: null },
    ],
    [seen('apache:http_server', '2.4.62', 'Debian'), { distribution: 'debian', release: null }],
    [
      seen('apache:http_server', '2.4.62', 'Debian', 'linux debian 12.5'),
      { distribution: 'debian', release: '12' },
    ],
    [seen('apache:http_server', '2.4.62', 'Debian', 'linux ubuntu 22.04'), { release: null }],
    [seen('apache:http_server', '2.4.6', 'CentOS'), { distribution: 'centos', release: '7' }],
    [
      seen('apache:http_server', '2.4.57', 'Red Hat Enterprise Linux'),
      { distribution: 'rhel', release: '9' },
    ],
    [
      seen('postgresql:postgresql', '15.6', '1~bpo12+1', 'linux debian 12'),
      { distribution: 'debian', release: null },
    ],
    [seen('apache:http_server', '2.4.62', 'Unix'), { origin: 'upstream', distribution: null }],
    [seen('apache:http_server', '2.4.62', 'Win64'), { origin: 'upstream' }],
    [seen('mariadb:mariadb', '11.4.2', 'ubu2404'), { origin: 'upstream' }],
    [seen('f5:nginx', '1.21.6'), { origin: 'unknown', distribution: null, keptBy: [] }],
    [seen('f5:nginx', '1.22.1'), { origin: 'shipped', distribution: null, keptBy: ['Debian 12'] }],
    [seen('f5:nginx', '1.22.1', undefined, 'windows'), { origin: 'upstream', keptBy: [] }],
    [seen('f5:nginx', '1.22.1', undefined, 'linux debian 12'), { origin: 'presumed', release: '12' }],
    [seen('traefik:traefik', '2.0.0', undefined, 'linux debian 12'), { origin: 'unknown' }],
    [seen('f5:nginx', '1.22.1', undefined, 'windows'), { origin: 'upstream' }],
    [seen('atlassian:confluence', '7.13.6', undefined, 'linux debian 12'), { origin: 'upstream' }],
    [seen('oracle:mysql', '8.0.36', 'log'), { origin: 'unknown' }],
  ])('%j', (build, expected) => {
    expect(readBuild(build)).toMatchObject(expected);
  });
});

describe('what the distribution says', () => {
  const debian = (revision: string) => readBuild(seen('openbsd:openssh', '9.2p1', `Debian-${revision}`));
  const apache = readBuild(seen('apache:http_server', '2.4.52', 'Ubuntu'));

  test.each<[string, PackageBuild, CveSource, string, RegExp]>([
    [
      'older',
      debian('2+deb12u2'),
      source('debian 12 openssh 1:9.2p1-2+deb12u3'),
      'affected',
      /u3; 1:9\.2p1-2\+deb12u2 is older/,
    ],
    [
      'the same',
      debian('2+deb12u3'),
      source('debian 12 openssh 1:9.2p1-2+deb12u3'),
      'fixed_by_vendor',
      /has the fix/,
    ],
    [
      'newer by number',
      debian('2+deb12u10'),
      source('debian 12 openssh 1:9.2p1-2+deb12u3'),
      'fixed_by_vendor',
      /has the fix/,
    ],
    ['fixed long ago', debian('2'), source('debian 12 openssh 1:7.4p1-10'), 'fixed_by_vendor', /has the fix/],
    ['never affected', debian('2'), source('debian 12 openssh 0'), 'fixed_by_vendor', /has the fix/],
    ['not fixed', debian('2+deb12u10'), source('debian 12 openssh -'), 'affected', /has not fixed it/],
    [
      'nothing said',
      debian('2+deb12u3'),
      source('debian 12 openssh'),
      'unknown',
      /has no data on CVE-2024-0001/,
    ],
    ['another package', debian('2+deb12u3'), source('debian 12 dropbear 1'), 'unknown', /has no data/],
    [
      'another release',
      debian('2+deb12u3'),
      source('debian 11 openssh 1'),
      'unknown',
      /2\+deb12u3 seen: compare it/,
    ],
    ['no data', debian('2+deb12u3'), source(), 'unknown', /^Debian revision 2\+deb12u3 seen: compare it/],
    ['unreadable', debian('2+deb12u3'), source('debian 12 openssh x'), 'unknown', /is unknown/],
    [
      'rebuilt by another',
      readBuild(seen('openbsd:openssh', '8.4p1', 'Raspbian-5+deb11u3')),
      source('debian 11 openssh 1:8.4p1-5+deb11u3'),
      'fixed_by_vendor',
      /^Raspbian 11 fixed/,
    ],
    [
      'the upstream part decides: fixed',
      apache,
      source('ubuntu 22.04 apache2 2.4.51-1'),
      'fixed_by_vendor',
      /2\.4\.52 has the fix/,
    ],
    [
      'the upstream part decides: not',
      apache,
      source('ubuntu 22.04 apache2 2.4.53-1'),
      'affected',
      /2\.4\.52 is older/,
    ],
    [
      'the revision would decide',
      apache,
      source('ubuntu 22.04 apache2 2.4.52-1ubuntu4.1'),
      'unknown',
      /depends on its revision/,
    ],
    [
      'nothing known of the revision',
      apache,
      source(),
      'unknown',
      /^A build of Ubuntu with unknown package revision/,
    ],
    [
      'repacked upstream',
      readBuild(seen('proftpd:proftpd', '1.3.8', 'Debian', 'linux debian 12')),
      source('debian 12 proftpd-dfsg 1.3.8+dfsg-4+deb12u3'),
      'unknown',
      /depends on its revision/,
    ],
    [
      'by the rules of rpm',
      readBuild(seen('isc:bind', '9.16.23', '18.el9_4.6')),
      source('rhel 9 bind 32:9.16.23-18.el9_4.1'),
      'fixed_by_vendor',
      /has the fix/,
    ],
    [
      'by date',
      readBuild(seen('openbsd:openssh', '9.6', 'FreeBSD-20240318', 'freebsd freebsd 14.1')),
      source('freebsd 14.1 openssh 20240701'),
      'affected',
      /20240318 is older/,
    ],
    [
      'patch date without data',
      readBuild(seen('openbsd:openssh', '9.6', 'FreeBSD-20240318')),
      source(),
      'unknown',
      /patch date 20240318 seen/,
    ],
    [
      'only presumed',
      readBuild(seen('f5:nginx', '1.22.1', undefined, 'linux debian 12')),
      source('debian 12 nginx 1.22.1-9'),
      'unknown',
      /^The host runs Debian 12/,
    ],
  ])('%s', (_, build, data, status, note) => {
    const verdict = evaluateBackport(build, cve, data);
    expect(verdict.status).toBe(status);
    expect(verdict.note).toMatch(note);
  });

  test('without a distribution the note says that one may have built it', () => {
    const verdict = evaluateBackport(readBuild(seen('f5:nginx', '1.21.6')), cve, source('debian 12 nginx -'));
    const note = expect.stringContaining('a package of a distribution may have the fix');
    expect(verdict).toEqual({ status: 'unknown', note, fixed: null, exact: false });
  });

  test('packages that disagree decide nothing', () => {
    const build = readBuild(seen('mariadb:mariadb', '10.5.23', '0+deb11u1'));
    const data = source('debian 11 mariadb-10.5 1:10.5.20-0+deb11u1', 'debian 11 mariadb -');
    expect(evaluateBackport(build, cve, data).status).toBe('unknown');
  });
});
