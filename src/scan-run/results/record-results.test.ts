import { describe, expect, it } from 'vitest';
import { mergeRows } from '../../domain/merge-rows.ts';
import type { Produced } from '../../domain/producer.ts';
import { type PortRow, type ResultRow, rowIdentity, type VulnerabilityRow } from '../../domain/result.ts';
import { completeRow } from '../../workspace/record/row-line.ts';
import { ResultRecorder } from './record-results.ts';

const endpoint = { host: '127.0.0.1', port: 22, protocol: 'tcp' as const };
const banner = { ...endpoint, banner: 'SSH-2.0-x\r\n', probe: 'null', truncated: false, partial: false };
const claim = {
  ...endpoint,
  match: 'ssh',
  product: 'OpenSSH',
  vendor: 'openbsd',
  version: '9.2p1',
  cpe: null,
  confidence: 0.9,
  source: 'banner',
  evidence: 'SSH-2.0-x',
  alternatives: [],
};

function record() {
  const rows: ResultRow[] = [];
  const recorder = new ResultRecorder(
    { append: (row) => void rows.push(row) },
    new Map([['127.0.0.1', ['a.example']]]),
  );
  return { rows, recorder };
}

function merged(rows: ResultRow[]): ResultRow[] {
  return [...Map.groupBy(rows, rowIdentity).values()].flatMap((same) => mergeRows(same) ?? []);
}

describe('ResultRecorder', () => {
  it('sums the counts of a host over its protocols, and keeps the share of UDP', () => {
    const { rows, recorder } = record();
    const host = '127.0.0.1';
    const tcp = { open: 3, closed: 95, filtered: 1, not_tried: 1 };
    const udp = { open: 1, closed: 4, filtered: 5, not_tried: 0 };
    void recorder.take('port_counts', { host, protocol: 'tcp', ...tcp, all_ports_open: true });
    expect(merged(rows)[0]).toMatchObject({ port_counts: tcp });
    expect(merged(rows)[0]).not.toHaveProperty('udp_port_counts');
    void recorder.take('port_counts', { host, protocol: 'udp', ...udp, all_ports_open: false });
    expect(merged(rows)).toMatchObject([
      {
        port_counts: { open: 4, closed: 99, filtered: 6, not_tried: 1 },
        udp_port_counts: udp,
        all_ports_open: true,
      },
    ]);
  });

  it('names each of few ports that are not open with its reason, without those that have a row', () => {
    const { rows, recorder } = record();
    const host = '127.0.0.1';
    const open = { host, port: 22, protocol: 'tcp', state: 'open', reason: 'syn-ack' };
    void recorder.take('open_ports', open);
    const counts = {
      host,
      protocol: 'tcp',
      open: 1,
      closed: 1,
      filtered: 2,
      not_tried: 0,
      all_ports_open: false,
    };
    const closed = { state: 'closed', reason: 'rst', icmp: null, from: null, count: 1 };
    void recorder.take('port_counts', {
      ...counts,
      ports: [443, 22, 80, 25],
      // Responded: open and closed ones.
      rejected: [{ ...closed, ports: [22, 80] }],
    });
    const reasons = [
      { protocol: 'tcp', state: 'closed', reason: 'rst', count: 1, ports: [80] },
      { protocol: 'tcp', state: 'filtered', reason: 'no-response', count: 2, ports: [25, 443] },
    ];
    expect(merged(rows)[0]).toMatchObject({ port_reasons: reasons });
    const udp = {
      host,
      protocol: 'udp',
      open: 0,
      closed: 1,
      filtered: 1,
      not_tried: 0,
      all_ports_open: false,
    };
    const silent = { host, port: 161, protocol: 'udp', state: 'open|filtered', reason: 'no-response' };
    void recorder.take('open_ports', silent);
    void recorder.take('port_counts', { ...udp, ports: [161, 7] });
    expect(merged(rows)[0]).toMatchObject({
      port_reasons: [
        ...reasons,
        { protocol: 'udp', state: 'closed', reason: 'port-unreachable', count: 1, ports: [7] },
        { protocol: 'udp', state: 'open|filtered', reason: 'no-response', count: 1, ports: [] },
      ],
    });
  });

  it('says why ports of a host are not open, over both protocols', () => {
    const { rows, recorder } = record();
    const host = '127.0.0.1';
    const error = {
      state: 'filtered',
      reason: 'admin-prohibited',
      icmp: { type: 3, code: 13 },
      from: '10.0.0.254',
    };
    const tcp = { open: 0, closed: 2, filtered: 3, not_tried: 0, all_ports_open: false };
    const udp = { open: 0, closed: 1, filtered: 1, not_tried: 0, all_ports_open: false };
    void recorder.take('port_counts', { host, protocol: 'udp', ...udp });
    const rejected = [{ ...error, count: 2, ports: [22, 80] }];
    void recorder.take('port_counts', { host, protocol: 'tcp', ...tcp, rejected });
    const reasons = [
      { protocol: 'tcp', ...error, count: 2, ports: [22, 80] },
      { protocol: 'tcp', state: 'closed', reason: 'rst', count: 2, ports: [] },
      { protocol: 'tcp', state: 'filtered', reason: 'no-response', count: 1, ports: [] },
      { protocol: 'udp', state: 'closed', reason: 'port-unreachable', count: 1, ports: [] },
      { protocol: 'udp', state: 'open|filtered', reason: 'no-response', count: 1, ports: [] },
    ];
    expect(merged(rows)[0]).toMatchObject({ port_reasons: reasons });

    const resumed = record();
    for (const row of merged(rows)) void resumed.recorder.recall(row);
    void resumed.recorder.take('port_counts', { host, protocol: 'udp', ...udp });
    expect(merged(resumed.rows)[0]).toMatchObject({ port_reasons: reasons });
  });

  it('counts a port as open once it responds: silence over UDP is open|filtered', () => {
    const { recorder } = record();
    const udp = { ...endpoint, port: 161, protocol: 'udp' };
    void recorder.take('open_ports', { ...udp, state: 'open|filtered', reason: 'no-response' });
    expect(recorder.counts.open_ports).toBe(0);
    for (let time = 0; time < 2; time++)
      void recorder.take('open_ports', { ...udp, state: 'open', reason: 'udp-response' });
    expect(recorder.counts.open_ports).toBe(1);

    const resumed = record();
    const row = {
      type: 'port',
      timestamp: '',
      ...udp,
      state: 'open|filtered',
      reason: 'no-response',
    } as PortRow;
    void resumed.recorder.recall(row);
    void resumed.recorder.recall({ ...row, port: 53, state: 'open' });
    expect(resumed.recorder.counts.open_ports).toBe(1);
  });

  it('unmarks a host that accepts every port once its probes have shown services', () => {
    const { rows, recorder } = record();
    const counts = { host: '127.0.0.1', protocol: 'tcp', open: 70, closed: 0, filtered: 0, not_tried: 0 };
    void recorder.take('port_counts', { ...counts, all_ports_open: true });
    void recorder.take('port_counts', { ...counts, all_ports_open: false });
    expect(merged(rows)).toMatchObject([{ port_counts: { open: 70, closed: 0 }, all_ports_open: false }]);
  });

  it('keeps the mark of a resumed host that UDP ports do not revoke', () => {
    const { rows, recorder } = record();
    const counts = { open: 70, closed: 0, filtered: 0, not_tried: 0 };
    const host = { type: 'host', timestamp: '', host: '127.0.0.1', state: 'up' } as const;
    void recorder.recall({ ...host, port_counts: counts, all_ports_open: true });
    void recorder.take('port_counts', { host: host.host, protocol: 'udp', ...counts, all_ports_open: false });
    expect(merged(rows)).toMatchObject([{ all_ports_open: true }]);
  });

  it.each(['tarpit', 'fragile'] as const)(
    'has no banner of a port that was not probed: %s',
    async (reason) => {
      const { rows, recorder } = record();
      const port = { ...endpoint, state: 'open', reason: 'syn-ack' };
      void recorder.take('open_ports', port);
      void recorder.take('banners', { ...banner, banner: '', unidentified_reason: reason });
      await recorder.flush();
      const [row] = merged(rows).filter(({ type }) => type === 'port');
      expect(completeRow(row as PortRow)).toMatchObject({ banner: null, unidentified_reason: reason });
    },
  );

  it('marks a silent port as unproven once its host has a verdict', async () => {
    const { rows, recorder } = record();
    void recorder.take('open_ports', { ...endpoint, state: 'open', reason: 'syn-ack' });
    void recorder.take('banners', { ...banner, banner: '' });
    await recorder.flush();
    void recorder.take('banners', { ...banner, banner: '', unidentified_reason: 'unproven' });
    await recorder.flush();
    const [row] = merged(rows).filter(({ type }) => type === 'port');
    expect(row).toMatchObject({ banner: '', unidentified_reason: 'unproven' });
  });

  it('joins what several parsers read of the further sites of a port', async () => {
    const { rows, recorder } = record();
    const parsed = { ...endpoint, service: 'https', parser: 'x', truncated: false };
    const publish = (protocol: string) =>
      recorder.take('parsed_services', {
        ...parsed,
        attributes: { [protocol]: { of: 'v1' }, sites: [{ name: 'v2.test', [protocol]: { of: 'v2' } }] },
      });
    void publish('http');
    void publish('tls');
    await recorder.flush();
    expect(merged(rows)).toContainEqual(
      expect.objectContaining({
        tls: { of: 'v1' },
        attributes: {
          http: { of: 'v1' },
          sites: [{ name: 'v2.test', http: { of: 'v2' }, tls: { of: 'v2' } }],
        },
      }),
    );
  });

  it('marks a port whose probes had no time, until it is probed again after a resume', async () => {
    const { rows, recorder } = record();
    const port = { type: 'port', timestamp: '', ...endpoint, state: 'open', reason: 'syn-ack' } as const;
    void recorder.take('banners', { ...banner, banner: '', unidentified_reason: 'timeout' });
    await recorder.flush();
    const ports = (all: ResultRow[]) =>
      merged(all)
        .filter((row) => row.type === 'port')
        .map(completeRow);
    const [marked] = ports(rows);
    expect(marked).toMatchObject({ unidentified_reason: 'timeout' });

    const resumed = record();
    void resumed.recorder.recall({ ...port, ...marked } as PortRow);
    await resumed.recorder.flush();
    expect(ports(resumed.rows)).toEqual([]);
    void resumed.recorder.take('banners', banner);
    await resumed.recorder.flush();
    const [row] = ports([...rows, ...resumed.rows]);
    expect(row).toMatchObject({ banner: banner.banner });
    expect(row).not.toHaveProperty('unidentified_reason');
  });

  it('writes no second row for a port of an interrupted run that is found again as it was', async () => {
    const { rows, recorder } = record();
    const port = { ...endpoint, state: 'open', reason: 'syn-ack' };
    void recorder.take('open_ports', port);
    void recorder.take('service_fingerprints', claim);
    await recorder.flush();

    const resumed = record();
    for (const row of merged(rows)) void resumed.recorder.recall(row);
    void resumed.recorder.take('open_ports', port);
    await resumed.recorder.flush();
    expect(resumed.rows).toEqual([]);
    void resumed.recorder.take('banners', banner);
    await resumed.recorder.flush();
    expect(resumed.rows).toMatchObject([{ banner: banner.banner, service: { product: 'OpenSSH' } }]);
    void resumed.recorder.take('open_ports', { ...port, reason: 'response' });
    expect(resumed.rows.at(-1)).toMatchObject({ reason: 'response' });
    expect(resumed.recorder.counts.open_ports).toBe(1);
  });

  it('counts a finding of an interrupted run once when it is published again', () => {
    const { recorder } = record();
    const finding = { ...endpoint, id: 'redis-no-auth', severity: 'high' };
    const row = { type: 'vulnerability', timestamp: '', ...endpoint, vulnerability: finding };
    void recorder.recall(row as unknown as ResultRow);
    void recorder.take('vulnerabilities', finding);
    void recorder.take('vulnerabilities', { ...finding, id: 'vnc-no-auth' });
    expect(recorder.counts.vulnerabilities).toBe(2);
    expect(recorder.severityCounts.high).toBe(2);
  });

  it('knows a port by its banner where no module publishes open ports', async () => {
    const { rows, recorder } = record();
    void recorder.take('banners', banner);
    void recorder.take('banners', { ...banner, probe: 'http' });
    void recorder.take('banners', { ...banner, port: 23, banner: '' });
    expect(recorder.counts).toEqual({ live_hosts: 1, open_ports: 2, vulnerabilities: 0 });
    await recorder.flush();
    expect(merged(rows)).toMatchObject([
      { type: 'host', host: '127.0.0.1', state: 'up', hostnames: ['a.example'] },
      { type: 'port', port: 22, state: 'open', reason: 'syn-ack', banner: 'SSH-2.0-x\r\n' },
      { type: 'port', port: 23, state: 'open', reason: 'syn-ack', banner: '' },
    ]);
  });

  it('leaves the state of a port to the module that publishes open ports', async () => {
    const { rows, recorder } = record();
    const dns = { host: '127.0.0.1', port: 53, protocol: 'udp' } as const;
    void recorder.take('open_ports', { ...endpoint, state: 'open', reason: 'syn-ack' });
    void recorder.take('service_fingerprints', { ...claim, ...dns });
    await recorder.flush();
    expect(merged(rows).at(-1)).not.toHaveProperty('state');
    expect(completeRow(merged(rows).at(-1) as PortRow)).toMatchObject({
      state: 'open',
      reason: 'udp-response',
    });
  });

  it('shows the host of a finding that nothing else found', () => {
    const { rows, recorder } = record();
    void recorder.take('vulnerabilities', { ...endpoint, id: 'a', severity: 'high' });
    expect(rows.map(({ type }) => type)).toEqual(['host', 'vulnerability']);
    expect(recorder.counts.live_hosts).toBe(1);
  });

  it('gives a class to a finding of a module that names none', () => {
    const { rows, recorder } = record();
    void recorder.take('vulnerabilities', {
      ...endpoint,
      id: 'a',
      severity: 'high',
      cpe: null,
      confidence: 1,
    });
    void recorder.take('vulnerabilities', { ...endpoint, id: 'b', severity: 'high', class: 'possible' });
    const classes = merged(rows).flatMap((row) =>
      row.type === 'vulnerability' ? row.vulnerability.class : [],
    );
    expect(classes).toEqual(['certain', 'possible']);
  });

  it('names the plugin behind rows, and all plugins of a port that several enriched', async () => {
    const { rows, recorder } = record();
    const [one, two] = ['one', 'two'].map((name) => ({ name, version: '1.0.0', sha256: 'ab' }));
    void recorder.take('discovered_hosts', { ip: '127.0.0.1', latency_ms: 1, method: 'x' }, one);
    void recorder.take('open_ports', { ...endpoint, state: 'open', reason: 'x' });
    void recorder.take('banners', banner, one);
    void recorder.take('service_fingerprints', claim, two);
    void recorder.take('service_fingerprints', claim, one);
    void recorder.take('vulnerabilities', { ...endpoint, id: 'a', severity: 'high' }, two);
    void recorder.take('vulnerabilities', { ...endpoint, id: 'b', severity: 'high' });
    void recorder.take('vulnerabilities', { ...endpoint, id: 'c', severity: 'high', producer: one });
    await recorder.flush();
    const made = merged(rows).map((row) => [row.type, (row as Produced).producer?.name]);
    expect(made).toEqual([
      ['host', 'one'],
      ['port', 'one'],
      ['vulnerability', 'two'],
      ['vulnerability', undefined],
      ['vulnerability', 'one'],
    ]);
    const [host, port, ...findings] = merged(rows) as Produced[];
    expect([host?.producers, port?.producers]).toEqual([undefined, [one, two]]);
    expect(findings.some((row) => row.producers)).toBe(false);
    expect(JSON.stringify(findings.map((row) => (row as VulnerabilityRow).vulnerability))).not.toContain(
      'sha256',
    );
  });

  it('keeps what builtin modules say of a port and adds what plugins say, in any order', async () => {
    const plugin = { name: 'one', version: '1.0.0', sha256: 'ab' };
    const own = (recorder: ResultRecorder) => {
      void recorder.take('open_ports', { ...endpoint, state: 'open', reason: 'syn-ack' });
      void recorder.take('banners', banner);
      void recorder.take('service_fingerprints', claim);
    };
    const other = (recorder: ResultRecorder) => {
      void recorder.take('open_ports', { ...endpoint, state: 'open|filtered', reason: 'x' }, plugin);
      void recorder.take('banners', { ...banner, banner: 'no', banner_b64: 'bm8=' }, plugin);
      void recorder.take('service_fingerprints', { ...claim, match: 'telnet', confidence: 0.8 }, plugin);
      const attributes = { telnet: { says: 1 } };
      void recorder.take(
        'parsed_services',
        { ...endpoint, service: 'x', parser: 'x', attributes, truncated: false },
        plugin,
      );
    };
    for (const order of [
      [own, other],
      [other, own],
    ]) {
      const { rows, recorder } = record();
      for (const publish of order) publish(recorder);
      expect(recorder.counts).toEqual({ live_hosts: 1, open_ports: 1, vulnerabilities: 0 });
      await recorder.flush();
      const [port] = merged(rows).filter((row) => row.type === 'port');
      expect(port).toMatchObject({
        state: 'open',
        reason: 'syn-ack',
        banner: banner.banner,
        banner_b64: null,
        service: { name: 'ssh' },
        fingerprints: [{ match: 'ssh' }, { match: 'telnet' }],
        attributes: { telnet: { says: 1 } },
        producer: plugin,
      });
    }
  });

  it('writes a host that a plugin found first again when a builtin module finds it', () => {
    const { rows, recorder } = record();
    const plugin = { name: 'one', version: '1.0.0', sha256: 'ab' };
    const host = '127.0.0.1';
    const counts = { host, protocol: 'tcp', open: 9, closed: 9, filtered: 9, not_tried: 9 };
    void recorder.take('port_counts', { ...counts, all_ports_open: true }, plugin);
    void recorder.take('discovered_hosts', { ip: host, latency_ms: 900, method: 'x' }, plugin);
    void recorder.take('discovered_hosts', { ip: host, latency_ms: 1, method: 'icmp-echo' });
    const swept = { open: 1, closed: 2, filtered: 0, not_tried: 0 };
    void recorder.take('port_counts', { host, protocol: 'udp', ...swept, all_ports_open: false });
    expect(merged(rows)).toMatchObject([
      { latency_ms: 1, method: 'icmp-echo', port_counts: swept, all_ports_open: false, producer: plugin },
    ]);
  });

  it('keeps the plugins of every row of a host when they are merged', () => {
    const { rows, recorder } = record();
    const [one, two] = ['one', 'two'].map((name) => ({ name, version: '1.0.0', sha256: 'ab' }));
    const host = '127.0.0.1';
    void recorder.take('discovered_hosts', { ip: host, latency_ms: 1, method: 'x' }, one);
    void recorder.take('asset_profiles', { host, functions: ['x'] }, two);
    void recorder.take('asset_profiles', { host, device_type: 'server' });
    expect(rows).toHaveLength(3);
    expect(merged(rows)).toMatchObject([{ type: 'host', producer: two, producers: [one, two] }]);
  });

  it('records values under other keys once, also after a resume', () => {
    const { rows, recorder } = record();
    const about = { ...endpoint, found: 'half a pair: \ud800' };
    for (const value of [about, 7, about, [1]]) void recorder.take('my_key', value);
    void recorder.take('targets', { value: 'x', kind: 'ip' });
    expect(rows).toMatchObject([
      { type: 'extra', key: 'my_key', ...endpoint, value: { found: 'half a pair: \ufffd' } },
      { type: 'extra', key: 'my_key', host: null, value: 7 },
      { type: 'extra', key: 'my_key', host: null, value: [1] },
    ]);
    const resumed = record();
    for (const row of rows) void resumed.recorder.recall(row);
    void resumed.recorder.take('my_key', about);
    expect(resumed.rows).toEqual([]);
  });

  it('bounds values under other keys, with one warning for each key', () => {
    const rows: ResultRow[] = [];
    const warnings: string[] = [];
    const recorder = new ResultRecorder(
      { append: (row) => void rows.push(row) },
      new Map(),
      undefined,
      ({ message }) => warnings.push(message),
    );
    for (const value of ['x'.repeat(65_536), 'y'.repeat(65_534), 1n]) void recorder.take('big', value);
    expect(rows).toHaveLength(1);
    for (let i = 0; i < 10_002; i++) void recorder.take('many', i);
    expect(rows).toHaveLength(10_000);
    expect(warnings).toEqual([
      'values of "big" above 64 KiB are not recorded',
      'values of "many" beyond the first 10000 of the scan are not recorded',
    ]);
  });

  it('keeps the evaluated frameworks and what parsers of one protocol add', async () => {
    const { rows, recorder } = record();
    const control = { framework: 'cis', control: '3.10', title: 't' };
    void recorder.take('compliance_violations', {
      ...control,
      host: '127.0.0.1',
      port: 23,
      description: 'd',
      severity: 'high',
      finding_ids: ['telnet-cleartext'],
    });
    void recorder.take('compliance_controls', {
      ...control,
      host: null,
      status: 'not_assessed',
      reason: 'r',
    });
    expect(rows).toMatchObject([
      { type: 'compliance', host: '127.0.0.1', port: 23, status: 'fail', finding_ids: ['telnet-cleartext'] },
      {
        type: 'compliance',
        host: null,
        port: null,
        status: 'not_assessed',
        description: 'r',
        severity: null,
      },
    ]);
    const parsed = { ...endpoint, service: 'ftp', parser: 'ftp_parser', truncated: false };
    void recorder.take('parsed_services', { ...parsed, attributes: { ftp: { code: 220, system: 'UNIX' } } });
    void recorder.take('parsed_services', { ...parsed, attributes: { ftp: { code: 220, anonymous: true } } });
    await recorder.flush();
    expect(rows.at(-1)).toMatchObject({
      attributes: { ftp: { code: 220, system: 'UNIX', anonymous: true } },
    });
  });

  it('goes on with the counts of an interrupted run', () => {
    const { rows, recorder } = record();
    const host = '127.0.0.1';
    const udp = { open: 1, closed: 4, filtered: 5, not_tried: 0 };
    const row = { type: 'host', timestamp: new Date(0).toISOString(), host, state: 'up' } as const;
    void recorder.recall({ ...row, port_counts: udp, udp_port_counts: udp });
    const tcp = { open: 2, closed: 8, filtered: 0, not_tried: 0 };
    void recorder.take('port_counts', { host, protocol: 'tcp', ...tcp, all_ports_open: false });
    expect(merged(rows)).toMatchObject([
      { port_counts: { open: 3, closed: 12, filtered: 5, not_tried: 0 }, udp_port_counts: udp },
    ]);
  });

  it('puts the parts of a profile together; one that says nothing of a field takes nothing back', () => {
    const { rows, recorder } = record();
    const host = '127.0.0.1';
    const os = { family: 'linux', distribution: 'debian', version: '12', confidence: 0.9 };
    const identity = [{ kind: 'ssh_host_key', value: 'ssh-ed25519 abc' }];
    void recorder.take('discovered_hosts', { ip: host, latency_ms: 1, method: 'icmp-echo' });
    void recorder.take('asset_profiles', {
      host,
      hostnames: ['b.example'],
      functions: ['web server'],
      identity,
    });
    void recorder.take('asset_profiles', { host, os, os_evidence: [] });
    void recorder.take('asset_profiles', { host, device_type: 'server' });
    expect(merged(rows)).toMatchObject([
      {
        hostnames: ['a.example', 'b.example'],
        functions: ['web server'],
        identity,
        os,
        device_type: 'server',
      },
    ]);
  });

  it('writes a port at once and again when more is known', async () => {
    const { rows, recorder } = record();
    void recorder.take('open_ports', { ...endpoint, state: 'open', reason: 'syn-ack' });
    expect(rows.map((row) => row.type)).toEqual(['host', 'port']);
    void recorder.take('banners', banner);
    void recorder.take('parsed_services', {
      ...endpoint,
      service: 'ssh',
      parser: 'ssh_parser',
      attributes: { ssh: { software: 'x' } },
      truncated: false,
    });
    void recorder.take('service_fingerprints', claim);
    expect(rows.length).toBe(2);
    await recorder.flush();
    expect(rows.length).toBe(3);
    expect(rows[2]).toMatchObject({
      state: 'open',
      reason: 'syn-ack',
      banner: 'SSH-2.0-x\r\n',
      service: { name: 'ssh', product: 'OpenSSH', version: '9.2p1' },
      attributes: { ssh: { software: 'x' } },
      fingerprints: [{ match: 'ssh', evidence: 'SSH-2.0-x' }],
    });
    expect(recorder.counts).toEqual({ live_hosts: 1, open_ports: 1, vulnerabilities: 0 });
  });

  it('prefers a response over silence and TLS over plain text', async () => {
    const { rows, recorder } = record();
    void recorder.take('open_ports', { ...endpoint, state: 'open', reason: 'syn-ack' });
    const tls = { version: 'TLSv1.3', cipher: 'x', alpn: null, chain: [] };
    void recorder.take('banners', { ...banner, banner: '' });
    void recorder.take('banners', { ...banner, banner: 'HTTP/1.1 400 plain', probe: 'http' });
    void recorder.take('banners', { ...banner, banner: 'HTTP/1.1 200 OK', probe: 'http-tls', tls });
    void recorder.take('banners', { ...banner, banner: 'later', probe: 'other' });
    await recorder.flush();
    expect(rows.at(-1)).toMatchObject({
      banner: 'HTTP/1.1 200 OK',
      tls: { version: 'TLSv1.3', cipher: 'x' },
    });
  });

  it('keeps the empty banner of a silent port and the requested names', async () => {
    const { rows, recorder } = record();
    void recorder.take('open_ports', { ...endpoint, state: 'open', reason: 'syn-ack' });
    void recorder.take('banners', { ...banner, banner: '' });
    await recorder.flush();
    expect(rows[0]).toMatchObject({ type: 'host', hostnames: ['a.example'] });
    expect((rows.at(-1) as PortRow).banner).toBe('');
  });

  it('loses nothing when more ports are open than it keeps in memory', async () => {
    const { rows, recorder } = record();
    const count = 9000;
    for (let port = 1; port <= count; port++) {
      void recorder.take('open_ports', { ...endpoint, port, state: 'open', reason: 'syn-ack' });
    }
    for (let port = 1; port <= count; port++) void recorder.take('service_fingerprints', { ...claim, port });
    await recorder.flush();
    const ports = merged(rows).filter((row) => row.type === 'port');
    expect(ports.length).toBe(count);
    expect(ports.every((row) => row.reason === 'syn-ack' && row.service?.product === 'OpenSSH')).toBe(true);
  });

  it('remembers what the record could not take, and says so once', () => {
    const failures: unknown[] = [];
    const recorder = new ResultRecorder(
      {
        append: () => {
          throw new Error('disk full');
        },
      },
      new Map(),
      (error) => failures.push(error),
    );
    for (const ip of ['127.0.0.1', '127.0.0.2'])
      void recorder.take('discovered_hosts', { ip, latency_ms: 1, method: 'icmp-echo' });
    expect(String(recorder.failure)).toContain('disk full');
    expect(failures).toEqual([recorder.failure]);
  });
});
