import { describe, expect, it } from 'vitest';
import type { Plan, PlannedNode } from '../../engine/graph/plan.ts';
import type { ModuleDefinition } from '../../engine/module.ts';
import { estimateScan, type ScanConditions } from './estimate-scan.ts';

function node(name: string, type: 'discovery' | 'scanner', config: Record<string, unknown>): PlannedNode {
  const options = Object.fromEntries(Object.keys(config).map((key) => [key, {}]));
  const provides = [
    name === 'banner_grabber' ? 'banners' : type === 'discovery' ? 'discovered_hosts' : 'open_ports',
  ];
  const definition = { name, type, provides, options } as unknown as ModuleDefinition;
  const inputs = name === 'banner_grabber' ? [{ key: 'open_ports' }] : [];
  return {
    instanceId: name,
    definition,
    dependsOn: [],
    skipped: null,
    inputs,
    config,
  } as unknown as PlannedNode;
}

const ping = node('icmp_discovery', 'discovery', { retry: 2, timeout: '2s' });
const sweep = node('syn_scanner', 'scanner', {
  ports: '1-1000',
  retries: 1,
  timeout: '3s',
  concurrency: 100,
});
const connect = node('connect_scanner', 'scanner', {
  ports: '1-1000',
  retries: 1,
  timeout: '3s',
  concurrency: 0,
});
const udp = node('udp_scanner', 'scanner', {
  ports: '53,161',
  retries: 1,
  timeout: '3s',
  concurrency: 50,
  protocol: 'udp',
});
const banners = node('banner_grabber', 'scanner', { timeout: '3s' });

const estimate = (nodes: PlannedNode[], more: Partial<ScanConditions> = {}) =>
  estimateScan({ nodes } as unknown as Plan, {
    hosts: 254,
    rate: 1000,
    silentRate: 1000,
    connects: false,
    ...more,
  });

describe('the estimate of a scan', () => {
  it('is at most every try for every address', () => {
    expect(estimate([ping, sweep, banners]).worst).toEqual({
      packets: 254 * 2003,
      seconds: 6 + 508,
      basis: 'all are up and silent; 1,000 packets/s',
    });
  });

  it('probably finds 1 address in 10, whose closed ports respond, and waits for a service', () => {
    expect(estimate([ping, sweep, banners]).probable).toEqual({
      packets: 228 * 3 + 26 * 1001,
      seconds: 6 + 26 + 3,
      basis: '1 address in 10 is up; 1,000 packets/s',
    });
    expect(estimate([sweep]).probable).toMatchObject({
      packets: 228 * 2000 + 26 * 1000,
      basis: '1 address in 10 responds; 1,000 packets/s',
    });
    expect(estimate([ping, sweep], { hosts: 4 }).probable).toMatchObject({
      packets: 4 * 1001,
      basis: 'all are up; 1,000 packets/s',
    });
    expect(estimate([ping, sweep], { hosts: 1 }).probable.basis).toBe('the address is up; 1,000 packets/s');
  });

  it('names what limits the speed: the rate, connections, timeouts', () => {
    const waits = { seconds: 6 + 15_240, basis: 'all are up and silent; 100 at a time wait 3 s' };
    expect(estimate([ping, connect]).worst).toMatchObject(waits);
    expect(estimate([ping, sweep], { connects: true }).worst).toMatchObject(waits);
    expect(estimate([ping], { hosts: 1 }).worst).toMatchObject({
      seconds: 6,
      basis: 'the address is up and silent; 3 tries wait 2 s',
    });
  });

  it('takes UDP ports for silent', () => {
    expect(estimate([udp], { hosts: 1 }).probable).toMatchObject({ packets: 4, seconds: 6 });
  });

  it('is nothing without targets, and a number for any size', () => {
    expect(estimate([ping, sweep], { hosts: 0 }).worst).toEqual({
      packets: 0,
      seconds: 0,
      basis: 'nothing to send',
    });
    const all = estimate([ping, connect], { hosts: Number.MAX_SAFE_INTEGER }).worst;
    expect([all.packets, all.seconds]).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
  });
});
