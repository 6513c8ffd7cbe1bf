import { describe, expect, it } from 'vitest';
import type { HostRow, ResultRow } from '../../domain/result.ts';
import { findingRow, hostRow, portRow, reportOfRows, streamOf } from '../fixtures/report-of-rows.ts';
import { hostBlocks } from './host-blocks.ts';
import type { HostBlock } from './report.ts';

async function blocksOf(rows: ResultRow[]): Promise<HostBlock[]> {
  const report = await reportOfRows(rows);
  const blocks: HostBlock[] = [];
  for await (const block of hostBlocks(report, streamOf(rows))) blocks.push(block);
  return blocks;
}

describe('the blocks of hosts', () => {
  it('have the facts of the host', async () => {
    const [block] = await blocksOf([
      hostRow('192.168.20.14', {
        hostnames: ['web-1.example.net', 'www.example.net'],
        os: { family: 'linux', distribution: 'debian', version: '12', confidence: 0.9 },
        device_type: 'server',
        mac: '52:54:00:12:34:56',
        vendor: 'QEMU',
        method: 'arp',
        latency_ms: 0.42,
        port_counts: { open: 1, closed: 2, filtered: 3, not_tried: 4 },
        port_reasons: [
          {
            protocol: 'tcp',
            state: 'filtered',
            reason: 'admin-prohibited',
            from: '10.0.0.254',
            count: 3,
            ports: [],
          },
        ],
        all_ports_open: true,
      }),
    ]);
    expect(block).toMatchObject({
      anchor: 'h-192.168.20.14',
      host: '192.168.20.14',
      names: ['web-1.example.net', 'www.example.net'],
      system: 'Debian 12',
      systemConfidence: 0.9,
      kind: 'server',
      mac: '52:54:00:12:34:56',
      vendor: 'QEMU',
      method: 'arp',
      latencyMs: 0.42,
      counts: { open: 1, closed: 2, filtered: 3, notTried: 4, planned: 10 },
      filteredWhy: 'admin-prohibited from 10.0.0.254',
      allPortsOpen: true,
      position: 0,
    });
  });

  it('name few ports that are not open with their state and reason', async () => {
    const reason = (state: string, name: string, ports: number[]) =>
      ({ protocol: 'tcp', state, reason: name, count: ports.length, ports }) as const;
    const [block] = await blocksOf([
      hostRow('10.0.0.1', {
        port_counts: { open: 0, closed: 2, filtered: 1, not_tried: 0 },
        port_reasons: [
          reason('closed', 'rst', [22, 80]),
          reason('filtered', 'no-response', [443]),
        ] as HostRow['port_reasons'] & object,
      }),
    ]);
    expect(block).toMatchObject({
      notOpen: '22, 80/tcp closed (rst), 443/tcp filtered (no response)',
      filteredWhy: '',
    });
  });

  it('of a host of which nothing is known are empty', async () => {
    const [first, second] = await blocksOf([
      hostRow('10.0.0.1', { device_type: 'unknown', os: null }),
      findingRow('10.0.0.2', null, 'a'),
    ]);
    const unknown = { names: [], system: null, kind: null, mac: null, counts: null, ports: [], openPorts: 0 };
    expect(first).toMatchObject({ ...unknown, findings: [], position: 0 });
    expect(second).toMatchObject({ ...unknown, host: '10.0.0.2', position: 1 });
    expect(second?.findings[0]?.ports).toEqual(['host']);
  });

  it('have a line per port', async () => {
    const tls = {
      version: 'TLSv1.3',
      versions: ['TLSv1.1', 'TLSv1.2', 'TLSv1.3'],
      survey: 'partial',
      certificate: {
        subject: 'CN=web-1',
        issuer: 'CN=Example CA',
        not_after: '2027-03-04T00:00:00Z',
        self_signed: false,
        sha256: 'ab',
      },
    };
    const cpe = 'cpe:2.3:a:f5:nginx:1.22.1:*:*:*:*:*:*:*';
    const service = {
      name: 'https',
      product: 'nginx',
      vendor: 'f5',
      version: '1.22.1',
      cpe,
      confidence: 0.95,
    };
    const producer = { name: 'mine', version: '1.0.0', sha256: 'ab' };
    const [block] = await blocksOf([
      portRow('10.0.0.1', 53, { protocol: 'udp', state: 'open|filtered' }),
      portRow('10.0.0.1', 443, {
        service,
        tls,
        banner: `HTTP/1.1 200 OK\r\n${'x'.repeat(10_000)}\r\n`,
        producer,
      }),
    ]);
    expect(block?.openPorts).toBe(1);
    expect(block?.ports[0]).toEqual({
      anchor: 'h-10.0.0.1-53-udp',
      port: 53,
      protocol: 'udp',
      state: 'open|filtered',
      service: null,
      product: null,
      confidence: null,
      cpe: null,
      said: '',
      saidLength: 0,
      tls: '',
      sites: '',
      missing: '',
      plugins: '',
    });
    const second = block?.ports[1];
    expect(second).toMatchObject({
      service: 'https',
      product: 'nginx 1.22.1',
      confidence: 0.95,
      cpe,
      saidLength: 10_017,
    });
    expect(second?.said.length).toBe(4000);
    expect(second?.tls).toBe(
      'TLS 1.1, 1.2 and 1.3, certificate CN=web-1 by CN=Example CA, until Mar 4, 2027',
    );
    expect(second?.missing).toMatch(/^The TLS enumeration ended early/);
    expect(second?.plugins).toBe('mine@1.0.0');
  });

  it('name the further sites of a port, and what servers require or reject', async () => {
    const site = (name: string) => ({ name, http: { status: 200, title: `Page of ${name}` } });
    const names = Array.from({ length: 18 }, (_, index) => `v${index + 2}.example`);
    const [block] = await blocksOf([
      portRow('10.0.0.1', 80, { attributes: { sites: names.map(site) } }),
      portRow('10.0.0.1', 443, {
        tls: {
          version: 'TLSv1.2',
          versions: ['TLSv1.2'],
          client_certificate: 'required',
          error: 'the server rejected it',
        },
      }),
    ]);
    expect(block?.ports[0]?.sites).toMatch(
      /^Sites: v2\.example "Page of v2\.example"; .*v17\.example"; 2 more$/,
    );
    expect(block?.ports[1]?.tls).toBe('TLS 1.2, client certificate required, the server rejected it');
  });

  it('have the findings in the order of the fix list, once per kind and class with their ports', async () => {
    const [block] = await blocksOf([
      portRow('10.0.0.1', 80),
      findingRow('10.0.0.1', 80, 'header', { severity: 'info' }),
      findingRow('10.0.0.1', 80, 'CVE-1', { class: 'possible', kev: true }),
      portRow('10.0.0.1', 443),
      findingRow('10.0.0.1', 443, 'CVE-1', { class: 'possible' }),
      findingRow('10.0.0.1', 443, 'critical', { severity: 'critical' }),
      findingRow('10.0.0.1', 8443, 'CVE-1', { class: 'likely' }),
    ]);
    expect(
      block?.findings.map(({ kind, ports, class: name, action }) => [kind.id, ports, name, action]),
    ).toEqual([
      ['critical', ['443/tcp'], 'certain', 1],
      ['CVE-1', ['8443/tcp'], 'likely', 2],
      ['CVE-1', ['80/tcp', '443/tcp'], 'possible', 2],
      ['header', ['80/tcp'], 'certain', 3],
    ]);
    expect(block?.severities).toEqual({ critical: 1, high: 0, medium: 3, low: 0, info: 1 });
    expect([block?.exploited, block?.openPorts, block?.findingsLeft]).toEqual([true, 2, 0]);
  });

  it('name the action for this host where findings of one ID have several', async () => {
    const update = (name: string) => ({ action: { key: name, text: `Update ${name}`, update: true } });
    const blocks = await blocksOf([
      findingRow('10.0.0.1', 80, 'CVE-1', { ...update('a'), kev: true }),
      findingRow('10.0.0.2', 80, 'CVE-1', update('b')),
    ]);
    expect(blocks.map(({ findings }) => findings[0]?.action)).toEqual([1, 2]);
  });

  it('are cut with the rest counted', async () => {
    const [block] = await blocksOf([
      hostRow('10.0.0.1', { hostnames: Array.from({ length: 50 }, (_, index) => `n${index}`) }),
      ...Array.from({ length: 1500 }, (_, index) => portRow('10.0.0.1', index + 1)),
      ...Array.from({ length: 1100 }, (_, index) => findingRow('10.0.0.1', null, `kind-${index}`)),
      ...Array.from({ length: 60 }, (_, index) => findingRow('10.0.0.1', 2000 + index, 'kind-0')),
    ]);
    expect([block?.ports.length, block?.portsLeft, block?.openPorts]).toEqual([1000, 500, 1500]);
    expect([block?.findings.length, block?.findingsLeft, block?.severities.medium]).toEqual([
      1000, 100, 1160,
    ]);
    expect([block?.names.length, block?.findings[0]?.ports.length]).toEqual([20, 50]);
  });

  it('keep one host in memory at a time', async () => {
    const rows = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].flatMap((host) => [hostRow(host), portRow(host, 22)]);
    const report = await reportOfRows(rows);
    let read = 0;
    async function* counted() {
      for (const row of rows) {
        read += 1;
        yield row;
      }
    }
    const blocks = hostBlocks(report, counted());
    await blocks.next();
    // The two rows of the first host, and the one that ends it.
    expect(read).toBe(3);
    await blocks.return(undefined);
  });
});
