import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryText } from '../../../test/query-texts.ts';
import { emptyRow, type IndexedRow } from './indexed-row.ts';
import { matchQuery, valueSatisfies } from './match-query.ts';
import { parseQuery } from './parse-query.ts';
import type { QueryCondition } from './query.ts';

const row: IndexedRow = {
  ...emptyRow,
  host: '10.0.0.7',
  name: ['web-1.example.com', 'intranet'],
  os: 'linux debian 12',
  device: 'server',
  mac: ['00:0c:29:aa:bb:cc', 'VMware, Inc.'],
  port: 443,
  protocol: 'tcp',
  state: 'open',
  reason: 'syn-ack',
  service: 'https',
  product: 'Apache httpd',
  vendor: 'Apache',
  version: '2.4.58',
  cpe: 'cpe:2.3:a:apache:http_server:2.4.58:*:*:*:*:*:*:*',
  banner: 'HTTP/1.1 200 OK\r\nServer: Apache/2.4.58',
  title: 'Über uns',
  tls: ['TLSv1.3', 'TLSv1.2', 'TLS_AES_256_GCM_SHA384', 'h2'],
  certificate: ['CN=web-1.example.com', 'CN=Example CA', 'web-1.example.com', 'www.example.com'],
  id: 'CVE-2024-27316',
  finding: 'HTTP/2 CONTINUATION flood',
  severity: 'high',
  class: 'likely',
  cvss: 7.5,
  epss: 0.89,
  kev: true,
  action: ['Update Apache httpd', 'update apache:http_server'],
  plugin: ['cve_matcher'],
  detected: '2.4.58',
  seen: '2026-11-23T14:30:05.120Z',
  type: ['host', 'port', 'vulnerability'],
};

const matches = (text: string, more: Partial<IndexedRow> = {}) =>
  matchQuery(parseQuery(text), { ...row, ...more });

describe('matchQuery', () => {
  it.each([
    '',
    'host:10.0.0.7',
    'host:10.0.0.0/24',
    'host:10.0.0.5-9',
    'host:10.0.0.1-10.0.1.1',
    'host:>=10.0.0.7',
    'host:<10.0.0.10',
    'host:WEB-1.example.com',
    'host:*.example.com',
    'host:10.0.*',
    'ip:10.0.0.1,10.0.0.7',
    'name:intranet',
    'name:*example*',
    'port:443',
    'port:22,80,400-500',
    'port:>442 port:<=443',
    'protocol:tcp state:open reason:syn-ack service:https',
    'product:apache',
    'product:"Apache HTTPD"',
    'product:apache*',
    'product:="apache httpd"',
    'os:linux os:"debian 12"',
    'mac:vmware* mac:00:0C:29:AA:BB:CC',
    'version:2.4.58',
    'version:2.4.58.0',
    'version:<2.4.100',
    'version:>2.4.9',
    'version:>=2.4.58-rc1',
    'version:2.4*',
    'cpe:apache:http_server',
    'banner:server:',
    'title:über',
    'tls:TLSv1.2 tls:h2 not tls:TLSv1.0',
    'certificate:www.example.com cert:"example ca"',
    'id:cve-2024-27316 id:CVE-2024*',
    'finding:flood',
    'severity:high',
    'severity:>=medium severity:<=high severity:<critical severity:critical,high',
    'class:>=possible class:<certain',
    'cvss:>=7.5 cvss:7-8 epss:>0.5',
    'kev:true exploited:yes not kev:no',
    'action:update action:="update apache:http_server"',
    'plugin:cve_matcher detected:2.4.58',
    'seen:2026-11-23 seen:2026-11-23T14:30 seen:>=2026-11-23T14:30:05 seen:<=2026-11-23 seen:<2026-11-24 seen:>2026-11-22',
    'type:finding type:port type:host',
    'certificate:* not title:none',
    'apache "continuation FLOOD" debian',
    'port:80 or product:apache',
    'not (port:80 or port:81)',
  ])('%s matches', (text) => expect(matches(text)).toBe(true));

  it.each([
    'host:10.0.1.0/24',
    'host:10.0.0.70',
    'host:>10.0.0.7',
    'host:>=::1',
    'host:<2001:db8::1',
    'name:intra',
    'port:>443',
    'service:http',
    'product:httpd*',
    'product:apach',
    'product:=apache',
    'os:debia',
    'version:>2.4.100',
    'version:2.4',
    'version:>2.4.58',
    'title:none',
    'severity:>high',
    'severity:medium',
    'class:>likely',
    'cvss:>7.5',
    'kev:false',
    'kev:none',
    'seen:>2026-11-23',
    'seen:<2026-11-23',
    'seen:2026-11-23T14:31',
    'type:compliance',
    'nothing',
    '443',
    'port:443 product:nginx',
  ])('%s does not match', (text) => expect(matches(text)).toBe(false));

  it.each([
    'port:none severity:none product:none name:none kev:none',
    'not product:* not port:443',
    'not kev:true',
  ])('%s matches a tuple of nothing', (text) => expect(matchQuery(parseQuery(text), emptyRow)).toBe(true));

  it.each(['port:>=0', 'severity:<=critical', 'version:>0', 'host:*', 'seen:<2999-01-01', 'kev:false'])(
    '%s does not match a tuple of nothing',
    (text) => expect(matchQuery(parseQuery(text), emptyRow)).toBe(false),
  );

  it('compares versions by the scheme of the product', () => {
    expect(matches('version:<9.2p1', { version: '9.2' })).toBe(true);
    expect(matches('version:9.2p1', { version: '9.2', version_scheme: 'openssh' })).toBe(true);
    expect(matches('version:<10.6', { version: '5.5.5-10.5.1-MariaDB', version_scheme: 'mariadb' })).toBe(
      true,
    );
    expect(
      matches('version:>=2024-01-01', { version: 'RELEASE.2024-01-16T16-07-38Z', version_scheme: 'date' }),
    ).toBe(true);
    expect(matches('version:release-x', { version: 'Release-X' })).toBe(true);
    expect(matches('version:>1 or version:<1', { version: 'Release-X' })).toBe(false);
  });

  it('compares addresses of IPv6, in every zone or in one', () => {
    const host = 'fe80::1%eth0';
    expect(matches('host:fe80::1', { host })).toBe(true);
    expect(matches('host:fe80::/10', { host })).toBe(true);
    expect(matches('host:fe80::1%eth0', { host })).toBe(true);
    expect(matches('host:fe80::1%eth1', { host })).toBe(false);
    expect(matches('host:0.0.0.0/0', { host })).toBe(false);
  });

  it('not reverses every query', () => {
    fc.assert(
      fc.property(queryText, fc.constantFrom(row, emptyRow), (text, one) => {
        const query = attempt(text);
        if (query === null) return;
        expect(matchQuery({ kind: 'not', term: query, from: 0, to: 0 }, one)).toBe(!matchQuery(query, one));
      }),
    );
  });
});

/** Null for a random query with too many conditions. */
function attempt(text: string) {
  try {
    return parseQuery(text);
  } catch {
    return null;
  }
}

describe('valueSatisfies', () => {
  it.each([
    ['severity:>=medium', 'critical', true],
    ['severity:>=medium', 'low', false],
    ['port:443,80', '80', true],
    ['port:443', 80, false],
    ['kev:true', 'true', true],
    ['kev:true', false, false],
    ['product:none', null, true],
    ['name:none', null, true],
    ['name:a', 'a', true],
    ['host:10.0.0.0/24', '10.0.0.7', true],
  ])('%s of %s is %s', (text, value, expected) => {
    expect(valueSatisfies(parseQuery(text) as QueryCondition, value)).toBe(expected);
  });
});
