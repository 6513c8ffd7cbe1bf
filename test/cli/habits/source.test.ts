import type { Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { Home } from '../command.ts';
import { Listeners } from '../listeners.ts';

const home = new Home();
const listeners = new Listeners();
afterAll(() => {
  listeners.close();
  home.remove();
});

/** Silent services on a host of their own. @returns their ports, and the peer of each connection so far by port */
async function silentServices(host: string, count: number) {
  const peers = new Map<number, string[]>();
  const listen = () =>
    listeners.serve(({ localPort = 0, remoteAddress = '' }: Socket) => {
      peers.set(localPort, [...(peers.get(localPort) ?? []), remoteAddress]);
    }, host);
  const ports = await Promise.all(Array.from({ length: count }, listen));
  return { ports: ports.sort((one, other) => one - other), peers };
}

async function portsOf(targets: string[], flags: string[]) {
  const { code, stdout, stderr } = await home.run(['scan', ...targets, ...flags, '--format', 'json']);
  const { results, summary } = JSON.parse(stdout) as {
    results: { ports: Record<string, unknown>[] }[];
    summary: Record<string, unknown>;
  };
  return { code, stderr, summary, ports: results.flatMap(({ ports }) => ports) };
}

describe('--no-fingerprint', () => {
  it('means ports only: one connection to each, the one that finds it open', async () => {
    const host = '127.86.1.1';
    const { ports: silent, peers } = await silentServices(host, 20);
    const flags = ['--no-discover', '--ports', silent.join(','), '--no-fingerprint', '--profile', 'deep'];
    const { code, ports, summary } = await portsOf([host], flags);
    expect(code).toBe(0);
    expect(ports.map(({ port }) => port)).toEqual(silent);
    expect(summary).toMatchObject({ open_ports: 20, vulnerabilities: 0 });
    const connections = silent.map((port) => peers.get(port)?.length ?? 0);
    expect(Math.max(...connections)).toBe(1);
  });
});

describe('--source-ip', () => {
  it('is the peer that services see, of every connection: port scan, banners and TLS', async () => {
    const host = '127.86.1.2';
    const { ports: silent, peers } = await silentServices(host, 2);
    const flags = ['--no-discover', '--ports', silent.join(','), '--timeout', '300ms', '--retries', '0'];
    const { code, ports } = await portsOf([host], [...flags, '--source-ip', '127.86.9.9']);
    expect([code, ports.map(({ port }) => port)]).toEqual([0, silent]);
    // A connection that was reset at once has lost its peer.
    const seen = [...peers.values()].flat().filter((peer) => peer !== '');
    expect(new Set(seen)).toEqual(new Set(['127.86.9.9']));
    expect(seen.length).toBeGreaterThan(4);
  });

  it('of no interface ends with 3, before anything is sent, as a key of the configuration too', async () => {
    const foreign = await home.run(['scan', '127.0.0.1', '--ports', '1', '--source-ip', '192.0.2.77']);
    expect([foreign.code, foreign.stdout]).toEqual([3, '']);
    expect(foreign.stderr).toContain('192.0.2.77 is not an address of this machine');
    const env = { SERVICE_SCANNER__INTERFACE: 'nosuch0' };
    const absent = await home.run(['scan', '127.0.0.1', '--ports', '1', '--dry-run'], { env });
    expect([absent.code, absent.stdout]).toEqual([3, '']);
    expect(absent.stderr).toContain('scanner.interface: no such interface: nosuch0');
    const chosen = { SERVICE_SCANNER__INTERFACE: 'lo', SERVICE_MODULES__SYN_SCANNER__INTERFACE: 'own0' };
    const plan = await home.run(['scan', '127.0.0.1', '--dry-run', '--format', 'json'], { env: chosen });
    const { nodes } = JSON.parse(plan.stdout) as { nodes: { module_type: string; options: object }[] };
    const syn = nodes.find(({ module_type }) => module_type === 'syn_scanner');
    expect([plan.code, syn?.options]).toEqual([0, expect.objectContaining({ interface: 'own0' })]);
    const malformed = await home.run(['scan', '127.0.0.1', '--source-ip', 'eth0']);
    expect(malformed.code).toBe(2);
  });
});
