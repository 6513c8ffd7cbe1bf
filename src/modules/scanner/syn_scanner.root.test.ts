import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeServers, listen, loopbackGate, tryModule } from '../../../test/module-trial.ts';
import type { Port, PortCounts } from '../../domain/host.ts';
import { noTraffic } from '../../domain/traffic.ts';
import type { ScanGate } from '../../net/gate/gate.ts';
import { rawObstacle } from '../../net/packets/linux/rights.ts';
import type { SlicedScanState } from './sliced-scan.ts';
import syn_scanner from './syn_scanner.ts';

const gates: ScanGate[] = [];
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close();
  closeServers();
});

type Published = Map<string, unknown[]>;
const countsOf = (published: Published) => (published.get('port_counts') ?? []) as PortCounts[];
const openOf = (published: Published) => (published.get('open_ports') ?? []) as Port[];

const waiting = { timeout: 30_000, interval: 20 };

/** How far the walk of the only piece is. */
function counterOf(saved: unknown): number {
  const { state } = (saved ?? { state: { batches: [] } }) as { state: SlicedScanState };
  return state.batches[0]?.slices[0]?.parts[0]?.counter ?? 0;
}

function gateTo(targets: string[]): ScanGate {
  const gate = loopbackGate(targets) as ScanGate;
  gates.push(gate);
  return gate;
}

describe.runIf(rawObstacle() === null)('syn_scanner', () => {
  it('finds exactly the open ports and accounts for every planned one', async () => {
    const ports = await Promise.all(Array.from({ length: 5 }, () => listen(() => undefined)));
    const gate = gateTo(['127.0.0.1', '127.0.0.2']);
    const { published, warnings } = await tryModule(syn_scanner, {
      config: { fallback: false, ports: `${ports.join(',')},1-50` },
      inputs: { targets: [] },
      targets: ['127.0.0.1', '127.0.0.2'],
      gate,
    });
    expect(warnings).toEqual([]);
    const { sent, raw, errors } = gate.traffic;
    expect([sent, raw.sent - raw.retransmitted, raw.dropped]).toEqual([raw.sent, 110, 0]);
    expect(raw.received).toBeGreaterThanOrEqual(110);
    expect(errors).toEqual({ ...noTraffic().errors, refused: 105 });
    expect(openOf(published).map(({ host, port, reason }) => [host, port, reason])).toEqual(
      expect.arrayContaining(ports.map((port) => ['127.0.0.1', port, 'syn-ack'])),
    );
    const rest = { protocol: 'tcp', filtered: 0, not_tried: 0, all_ports_open: false };
    expect(countsOf(published).toSorted((a, b) => (a.host < b.host ? -1 : 1))).toEqual([
      { host: '127.0.0.1', open: 5, closed: 50, ...rest, stack: expect.objectContaining({ hops: 64 }) },
      { host: '127.0.0.2', open: 0, closed: 55, ...rest },
    ]);
  });

  it('limits the rate to one host where that is set only, and says where it held the scan', async () => {
    const warningsWith = async (config: object) => {
      const { warnings } = await tryModule(syn_scanner, {
        config: { fallback: false, ports: '1-20', rate: 10_000_000, ...config },
        inputs: { targets: [] },
        targets: ['127.0.0.1', '127.0.0.2'],
        gate: gateTo(['127.0.0.1', '127.0.0.2']),
      });
      return warnings;
    };
    expect(syn_scanner.options['host_rate']?.Default).toBe(0);
    expect(await warningsWith({})).toEqual([]);
    expect(await warningsWith({ rate: 400, host_rate: 200 })).toEqual([]);
    expect(await warningsWith({ host_rate: 2000 })).toEqual([
      expect.stringContaining(
        'host_rate of syn_scanner held the scan at 2,000 packets per second to one host',
      ),
    ]);
  });

  it('makes connections where every target is this machine, and says so', async () => {
    const port = await listen(() => undefined);
    const { published, warnings, methods } = await tryModule(syn_scanner, {
      config: { ports: `${port},1-5` },
      inputs: { targets: [] },
      targets: ['127.0.0.1'],
    });
    expect(openOf(published).map((open) => open.port)).toEqual([port]);
    expect(countsOf(published)).toMatchObject([{ host: '127.0.0.1', open: 1, closed: 5 }]);
    expect(methods).toEqual(['connections: every target is this machine']);
    expect(warnings).toEqual([]);
  });

  it('takes hosts from discovery as they come, IPv6 too, and leaves out excluded ports', async () => {
    const port = await listen(() => undefined, '::1');
    const { published } = await tryModule(syn_scanner, {
      config: { fallback: false, ports: `${port},2,3`, exclude_ports: '3' },
      inputs: { targets: [], discovered_hosts: [{ ip: '::1', latency_ms: 1, method: 'icmp-echo' }] },
      targets: ['::1', '127.0.0.1'],
      gate: gateTo(['::1', '127.0.0.1']),
    });
    expect(openOf(published).map(({ host }) => host)).toEqual(['::1']);
    expect(countsOf(published)).toMatchObject([{ host: '::1', open: 1, closed: 1 }]);
  });

  it.each(['discovered_hosts', 'targets'])(
    'resumes after a kill without losing or repeating completed pairs (from %s)',
    async (source) => {
      const hosts = Array.from({ length: 200 }, (_, at) => `127.67.0.${at + 1}`);
      const inputs = {
        targets: [],
        ...(source === 'targets' ? {} : { discovered_hosts: hosts.map((ip) => ({ ip, method: 'test' })) }),
      };
      const shared = {
        config: { fallback: false, ports: '1-100', rate: 20_000 },
        inputs,
        targets: ['127.67.0.1-127.67.0.200'],
      };
      const first = gateTo(shared.targets);
      const before: Published = new Map();
      let probe: () => unknown = () => null;
      const abort = new AbortController();
      const covered = { open: 0, closed: 0, filtered: 0, not_tried: 0 };
      const running = tryModule(syn_scanner, {
        ...shared,
        gate: first,
        published: before,
        coverage: covered,
        signal: abort.signal,
        checkpoint: (state) => {
          probe = state;
        },
      }).catch(() => undefined);
      await vi.waitFor(() => expect(counterOf(probe())).toBeGreaterThan(8000), waiting);
      const restored = JSON.parse(JSON.stringify(probe()));
      const coverage = { ...covered };
      const kept = [...countsOf(before)];
      abort.abort(new Error('killed'));
      await running;

      const second = gateTo(shared.targets);
      const after: Published = new Map();
      const trial = await tryModule(syn_scanner, {
        ...shared,
        gate: second,
        published: after,
        restored,
        recordedCounts: kept,
        coverage,
      });
      expect(trial.coverage).toEqual({ open: 0, closed: 20_000, filtered: 0, not_tried: 0 });
      const all = [...kept, ...countsOf(after)];
      expect(all).toHaveLength(hosts.length);
      for (const each of all) expect(each).toMatchObject({ open: 0, closed: 100, filtered: 0, not_tried: 0 });
      // 8000 positions of a permutation of 32,768 are some 4,880 of the 20,000 pairs; some responses may be in flight.
      expect(second.packetsSent).toBeLessThan(16_000);
    },
    20_000,
  );

  it('sends nothing any more once it is canceled, and accounts for what was left', async () => {
    const gate = gateTo(['127.68.0.0/24']);
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error('canceled')), 1000);
    const published: Published = new Map();
    const running = tryModule(syn_scanner, {
      config: { fallback: false, ports: '1-1000', rate: 5000 },
      inputs: { targets: [] },
      targets: ['127.68.0.0/24'],
      gate,
      published,
      signal: abort.signal,
    });
    await expect(running).rejects.toThrow('canceled');
    const sent = gate.packetsSent;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(gate.packetsSent - sent).toBeLessThan(200);
  });
});
