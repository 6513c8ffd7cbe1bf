import { afterEach, describe, expect, it } from 'vitest';
import { closeServers, listen, tryModule } from '../../../test/module-trial.ts';
import type { Port, PortCounts } from '../../domain/host.ts';
import connect_scanner, { answersEverything } from './connect_scanner.ts';

afterEach(closeServers);

const counts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('port_counts') ?? []) as PortCounts[];
const openPorts = (trial: { published: Map<string, unknown[]> }) =>
  (trial.published.get('open_ports') ?? []) as Port[];

describe('connect_scanner', () => {
  it('finds exactly the open ports and accounts for every planned one', async () => {
    const ports = await Promise.all(Array.from({ length: 5 }, () => listen(() => undefined)));
    const spec = `${ports.join(',')},1-50`;
    const trial = await tryModule(connect_scanner, { config: { ports: spec }, inputs: { targets: [] } });
    expect(
      openPorts(trial)
        .map((port) => port.port)
        .sort(),
    ).toEqual([...ports].sort());
    expect(openPorts(trial)[0]).toEqual({
      host: '127.0.0.1',
      port: expect.any(Number),
      protocol: 'tcp',
      state: 'open',
      reason: 'syn-ack',
    });
    expect(counts(trial)).toEqual([
      {
        host: '127.0.0.1',
        protocol: 'tcp',
        open: 5,
        closed: 50,
        filtered: 0,
        not_tried: 0,
        all_ports_open: false,
      },
    ]);
  });

  it('takes hosts from discovery, IPv6 too, and leaves out excluded ports', async () => {
    const port = await listen(() => undefined, '::1');
    const trial = await tryModule(connect_scanner, {
      config: { ports: `${port},2,3`, exclude_ports: '3' },
      inputs: { targets: [], discovered_hosts: [{ ip: '::1', latency_ms: 1, method: 'icmp-echo' }] },
      targets: ['::1', '127.0.0.1'],
    });
    expect(openPorts(trial).map(({ host }) => host)).toEqual(['::1']);
    expect(counts(trial)).toMatchObject([{ host: '::1', open: 1, closed: 1 }]);
  });

  it('never touches a host outside the targets', async () => {
    const trial = await tryModule(connect_scanner, {
      config: { ports: '1-3' },
      inputs: { discovered_hosts: [{ ip: '127.0.0.2', latency_ms: 1, method: 'icmp-echo' }] },
      targets: ['127.0.0.1'],
    });
    expect(counts(trial)).toMatchObject([{ host: '127.0.0.2', not_tried: 3, closed: 0 }]);
    expect(trial.gate.packetsSent).toBe(0);
  });

  it('T-011 marks a host that accepts every port', async () => {
    const ports = await Promise.all(Array.from({ length: 110 }, () => listen(() => undefined)));
    const trial = await tryModule(connect_scanner, {
      config: { ports: ports.join(',') },
      inputs: { targets: [] },
    });
    expect(counts(trial)).toMatchObject([{ open: 110, all_ports_open: true }]);
  });

  it('ends within 200 ms of a cancel and counts the rest as not tried', async () => {
    const cancel = new AbortController();
    let canceledAt = 0;
    setTimeout(() => {
      canceledAt = performance.now();
      cancel.abort();
    }, 100);
    const run = tryModule(connect_scanner, {
      config: { ports: 'all', rate: 500 },
      inputs: { targets: [] },
      signal: cancel.signal,
    });
    await expect(run).rejects.toThrow();
    expect(performance.now() - canceledAt).toBeLessThan(200);
  });

  it('keeps the rate it was given', async () => {
    const started = performance.now();
    const trial = await tryModule(connect_scanner, {
      config: { ports: '1-600', rate: 1000 },
      inputs: { targets: [] },
    });
    expect(trial.gate.packetsSent).toBe(600);
    expect(performance.now() - started).toBeGreaterThan(540);
  });

  it('sweeps many hosts fast and finds the few that are open', async () => {
    const port = await listen(() => undefined, '127.66.1.7');
    await listen(() => undefined, '127.66.3.200', port);
    const trial = await tryModule(connect_scanner, {
      config: { ports: String(port), rate: 100_000 },
      inputs: { targets: [] },
      targets: ['127.66.0.0/22'],
    });
    expect(
      openPorts(trial)
        .map(({ host }) => host)
        .sort(),
    ).toEqual(['127.66.1.7', '127.66.3.200']);
    expect(counts(trial)).toHaveLength(1022);
  });

  it('refuses UDP with the name of the module for it', async () => {
    await expect(tryModule(connect_scanner, { config: { protocol: 'udp' } })).rejects.toThrow(/udp_scanner/);
  });
});

it('a host counts as answering everything only on clear evidence', () => {
  const host = { host: 'h', protocol: 'tcp' as const, all_ports_open: false };
  const verdict = (open: number, closed: number) =>
    answersEverything({ ...host, open, closed, filtered: 0, not_tried: 0 });
  expect(verdict(91, 9)).toBe(true);
  expect(verdict(90, 10)).toBe(false);
  expect(verdict(65, 0)).toBe(true);
  expect(verdict(64, 0)).toBe(false);
});
