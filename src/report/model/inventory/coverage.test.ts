import { describe, expect, it } from 'vitest';
import type { ErrorRow, HostPortCounts } from '../../../domain/result.ts';
import type { StageRecord } from '../../../domain/scan.ts';
import { completedFacts, hostRow, portRow, reportOfRows } from '../../fixtures/report-of-rows.ts';

const summary = { ...completedFacts().summary, addresses_scanned: 250, excluded: 4 };
const counts = (open: number, closed: number, filtered: number, not_tried: number): HostPortCounts => ({
  open,
  closed,
  filtered,
  not_tried,
});

function stage(module_type: string, coverage: HostPortCounts, method?: string): StageRecord {
  return {
    instance_id: module_type,
    module_type,
    status: 'completed',
    started_at: null,
    completed_at: null,
    items_in: 0,
    items_out: 0,
    error: null,
    coverage,
    ...(method === undefined ? {} : { method }),
  };
}

const twoHosts = [
  hostRow('10.0.0.1', { port_counts: counts(5, 6, 7, 6), udp_port_counts: counts(1, 2, 3, 4) }),
  hostRow('10.0.0.2', { port_counts: counts(1, 9, 0, 0) }),
];

describe('coverage of addresses', () => {
  it('adds up to what was asked for', async () => {
    const { coverage } = await reportOfRows(twoHosts, { summary });
    expect(coverage.addresses).toEqual({ requested: 254, responded: 2, silent: 248, excluded: 4 });
  });

  it('never has fewer addresses than hosts', async () => {
    const { coverage } = await reportOfRows(twoHosts, {
      summary: { ...summary, addresses_scanned: 1, excluded: Number.NaN },
    });
    expect(coverage.addresses).toEqual({ requested: 2, responded: 2, silent: 0, excluded: 0 });
  });
});

describe('coverage of ports', () => {
  it('is the sum of the hosts by protocol', async () => {
    const { coverage } = await reportOfRows(twoHosts, { stages: [] });
    expect(coverage.ports).toEqual({
      tcp: { open: 5, closed: 13, filtered: 4, notTried: 2, planned: 24 },
      udp: { open: 1, closed: 2, filtered: 3, notTried: 4, planned: 10 },
      all: { open: 6, closed: 15, filtered: 7, notTried: 6, planned: 34 },
    });
  });

  it('is the plan where scanners counted it by protocol', async () => {
    const stages = [
      stage('syn_scanner', counts(5, 100, 50, 900)),
      stage('connect_scanner', counts(1, 2, 3, 400), 'UDP probes: protocol is udp'),
    ];
    const rows = [hostRow('10.0.0.1', { port_counts: counts(5, 6, 7, 2) })];
    const { coverage } = await reportOfRows(rows, { stages });
    expect(coverage.ports?.tcp).toEqual({ open: 5, closed: 100, filtered: 50, notTried: 900, planned: 1055 });
    expect(coverage.ports?.all.planned).toBe(1055 + 406);
  });

  it('is that of the hosts where one scanner probed both protocols', async () => {
    const stages = [stage('syn_scanner', counts(6, 15, 7, 6))];
    const { coverage } = await reportOfRows(twoHosts, { stages });
    expect(coverage.ports?.udp.planned).toBe(10);
  });

  it('has no negative counts, whatever a record says', async () => {
    const rows = [
      hostRow('10.0.0.1', { port_counts: counts(5, 1, 0, 0), udp_port_counts: counts(1, 9, 0, 0) }),
    ];
    const { coverage } = await reportOfRows(rows, { stages: [] });
    expect(coverage.ports?.tcp).toEqual({ open: 4, closed: 0, filtered: 0, notTried: 0, planned: 4 });
    expect(coverage.ports?.all).toEqual({ open: 5, closed: 9, filtered: 0, notTried: 0, planned: 14 });
  });

  it('is unknown if no scanner counts', async () => {
    const { coverage } = await reportOfRows([hostRow('10.0.0.1')], { stages: [] });
    expect(coverage.ports).toBeNull();
    expect(coverage.text).toMatch(/^How many ports were tried was not counted\. Not looked at: /);
  });
});

describe('what coverage lists', () => {
  it('services that were not read to their end, the emptiest first', async () => {
    const rows = [
      portRow('10.0.0.1', 1, { truncated: true }),
      portRow('10.0.0.1', 2, { partial: true, truncated: true }),
      portRow('10.0.0.1', 3, { tls: { survey: 'partial' }, partial: true }),
      portRow('10.0.0.1', 4, { unidentified_reason: 'timeout', partial: true }),
      portRow('10.0.0.1', 5, { tls: { survey: 'complete' }, partial: false }),
      portRow('10.0.0.1', 6, { unidentified_reason: 'constructor' as 'cut' }),
      portRow('10.0.0.1', 7, { reason: 'syn-ack-zero-window' }),
    ];
    const { unfinished, unfinishedLeft } = (await reportOfRows(rows)).coverage;
    expect(unfinished.map(({ port, stage: name }) => [port, name])).toEqual([
      [4, 'identification'],
      [6, 'identification'],
      [7, 'identification'],
      [2, 'banner'],
      [3, 'TLS'],
      [1, 'banner'],
    ]);
    expect(unfinished[1]?.missing).toBe(
      'It was not identified. Service, product and findings may be missing.',
    );
    expect(unfinished[2]?.missing).toMatch(/^It accepts connections, but nothing came back/);
    expect(unfinishedLeft).toBe(0);
    const many = Array.from({ length: 300 }, (_, index) => portRow('10.0.0.1', index, { truncated: true }));
    const flood = (await reportOfRows([...many, portRow('10.0.0.1', 9999, { unidentified_reason: 'cut' })]))
      .coverage;
    expect([flood.unfinished.length, flood.unfinishedLeft, flood.unfinished[0]?.port]).toEqual([
      200, 101, 9999,
    ]);
  });

  it('a limited number of warnings, errors and tarpits', async () => {
    const error: ErrorRow = {
      type: 'error',
      timestamp: '',
      host: null,
      target: 'a.example',
      code: 'resolve_failed',
      message: `no\r\nsuch host ${'x'.repeat(1_000_000)}`,
      node: null,
    };
    const warnings = Array.from({ length: 201 }, () => ({
      code: 'slow',
      message: 'm',
      node: 'n',
      target: 't',
    }));
    const rows = [
      ...Array.from({ length: 250 }, () => error),
      ...Array.from({ length: 120 }, (_, index) => hostRow(`10.0.0.${index}`, { all_ports_open: true })),
    ];
    const { coverage } = await reportOfRows(rows, { warnings });
    expect([coverage.warnings.length, coverage.warningsLeft]).toEqual([200, 1]);
    expect(coverage.warnings[0]).toEqual({ code: 'slow', where: 't, n', message: 'm' });
    expect([coverage.errors.length, coverage.errorsLeft]).toEqual([200, 50]);
    expect(coverage.errors[0]?.message).toMatch(/^no such host x+…$/);
    expect(coverage.errors[0]?.message.length).toBe(500);
    expect(coverage.allPortsOpen.length).toBe(100);
  });
});
