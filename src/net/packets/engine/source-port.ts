import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

const highest = 65_535;
/** Below are ports of services. */
const lowest = 10_000;
const usualRange = { first: 32_768, last: 60_999 };

/**
 * A TCP port that no connection of this machine uses or will use: outside the ephemeral range, and without a
 * listener. A different one each time, so that late responses to an earlier scan are ignored.
 */
export function freeSourcePort(): number {
  const { first, last } = connectionPorts();
  const used = usedPorts();
  const free: number[] = [];
  for (let port = lowest; port <= highest; port++)
    if ((port < first || port > last) && !used.has(port)) free.push(port);
  return free.length > 0 ? (free[randomInt(free.length)] as number) : randomInt(lowest, highest + 1);
}

function connectionPorts(): { first: number; last: number } {
  const [first, last] = read('/proc/sys/net/ipv4/ip_local_port_range').trim().split(/\s+/).map(Number);
  return first && last ? { first, last } : usualRange;
}

/** Local ports of TCP sockets, whatever their state (proc_net(5)). */
function usedPorts(): Set<number> {
  const used = new Set<number>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of read(table).split('\n').slice(1)) {
      const port = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) /.exec(line)?.[1];
      if (port) used.add(Number.parseInt(port, 16));
    }
  }
  return used;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
