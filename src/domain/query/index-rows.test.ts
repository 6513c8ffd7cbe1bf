import { describe, expect, it } from 'vitest';
import { compliance, extra, finding, host, plugin, port } from '../../../test/result-rows.ts';
import type { PortRow, VulnerabilityRow } from '../result.ts';
import { indexedRemainder, indexedRow, indexedRows } from './index-rows.ts';

const tuples = (ports: PortRow[], findings: VulnerabilityRow[]) =>
  [...indexedRows(host, ports, findings)].map(({ port: number, id, type }) => [number, id, type.join(' ')]);

describe('indexedRows', () => {
  it('has a tuple for each finding, each port without one, or the host alone', () => {
    expect(tuples([], [])).toEqual([[null, null, 'host']]);
    expect(tuples([port(22), port(80)], [finding(80, 'a'), finding(80, 'b'), finding(null, 'c')])).toEqual([
      [22, null, 'host port'],
      [80, 'a', 'host port vulnerability'],
      [80, 'b', 'host port vulnerability'],
      [null, 'c', 'host vulnerability'],
    ]);
  });

  it('a finding of a port without a row has the number of the port', () => {
    expect(tuples([], [finding(80, 'a')])).toEqual([[80, 'a', 'host vulnerability']]);
    expect(tuples([{ ...port(80), protocol: 'udp' }], [finding(80, 'a')])).toEqual([
      [80, null, 'host port'],
      [80, 'a', 'host vulnerability'],
    ]);
  });

  it('flattens what its records say', () => {
    const row = indexedRow(
      {
        ...host,
        hostnames: ['web', 'web'],
        os: { family: 'linux', distribution: 'debian', version: '12', confidence: 1 },
        device_type: 'unknown',
        mac: '00:0c:29:00:00:01',
        vendor: 'VMware',
      },
      port(443, {
        service: {
          name: 'ssh',
          product: 'OpenSSH',
          vendor: 'OpenBSD',
          version: '9.2p1',
          cpe: 'cpe:2.3:a:openbsd:openssh:9.2:p1',
          confidence: 1,
        },
        banner: 'x'.repeat(10_000),
        tls: {
          version: 'TLSv1.3',
          versions: ['TLSv1.2', 'TLSv1.3'],
          cipher: 'C',
          alpn: null,
          certificate: { subject: 'CN=a', issuer: 'CN=b', sans: ['a.example'] },
        },
        attributes: { http: { title: 'T' } },
      }),
      {
        ...finding(443, 'x', 'low', { action: { key: 'k', text: 'Do', update: false }, kev: true }),
        producer: plugin,
      },
    );
    expect(row).toMatchObject({
      host: host.host,
      name: ['web'],
      os: 'linux debian 12',
      device: null,
      mac: ['00:0c:29:00:00:01', 'VMware'],
      version_scheme: 'openssh',
      title: 'T',
      tls: ['TLSv1.3', 'TLSv1.2', 'C'],
      certificate: ['CN=a', 'CN=b', 'a.example'],
      finding: 'Title of x',
      kev: true,
      action: ['Do', 'k'],
      plugin: ['cve_matcher', 'my_plugin'],
    });
    expect(row.banner?.length).toBe(4096);
  });

  it('finds titles and certificates of further sites', () => {
    const site = (name: string) => ({
      name,
      http: { title: `Page ${name}` },
      tls: { certificate: { subject: `CN=${name}`, sans: [name] } },
    });
    const attributes = { http: { title: 'One' }, sites: [site('v2'), { name: 'v3' }, site('v4')] };
    const row = indexedRow(null, port(443, { attributes }), null);
    expect(row.title).toBe('One | Page v2 | Page v4');
    expect(row.certificate).toEqual(['CN=v2', 'v2', 'CN=v4', 'v4']);
  });

  it('takes what a plugin wrote in the wrong form', () => {
    const tls = { version: 3, versions: 'x', certificate: { error: 'unreadable', sans: [1, null, 'a'] } };
    const row = indexedRow(null, port(1, { tls, attributes: { http: null } }), null);
    expect([row.tls, row.certificate, row.title, row.host]).toEqual([[], ['a'], null, host.host]);
  });
});

describe('indexedRemainder', () => {
  it('has other rows as tuples of their own', () => {
    expect(indexedRemainder(compliance('4.1'))).toMatchObject({
      id: 'cis 4.1',
      severity: 'medium',
      type: ['compliance'],
    });
    expect(indexedRemainder(extra('k', { a: 'v' }))).toMatchObject({
      id: 'k',
      banner: '{"a":"v"}',
      type: ['extra'],
    });
  });
});
