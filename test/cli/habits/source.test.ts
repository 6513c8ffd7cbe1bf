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
