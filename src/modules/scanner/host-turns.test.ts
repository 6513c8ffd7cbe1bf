import { expect, it } from 'vitest';
import { randomPermutationKey } from '../../net/packets/frame/permutation.ts';
import { HostTurns, type TurningHost } from './host-turns.ts';
import { PortOrder } from './port-order.ts';

const ports = Array.from({ length: 30 }, (_, at) => at + 1);

function turnsOf(leading: number[]) {
  const order = new PortOrder(ports, randomPermutationKey(), (port) => leading.includes(port));
  const turns = new HostTurns<TurningHost & { ip: number }>(order);
  let ip = 0;
  const pairs: { ip: number; port: number }[] = [];
  for (;;) {
    while (turns.hasRoom && ip < 200) turns.add({ ip: ip++, next: 0, first: ip % 30, again: [] });
    const pair = turns.next();
    if (!pair) return pairs;
    pairs.push({ ip: pair.host.ip, port: pair.port });
  }
}

it('hands out the leading ports of all hosts before the others of any, and each pair once', () => {
  const pairs = turnsOf([7, 22]);
  expect(new Set(pairs.slice(0, 400).map(({ port }) => port))).toEqual(new Set([7, 22]));
  expect(new Set(pairs.map(({ ip, port }) => `${ip} ${port}`)).size).toBe(200 * 30);
  expect(pairs).toHaveLength(200 * 30);
});

it('is done with some hosts after another where no port leads', () => {
  const pairs = turnsOf([]);
  expect(Math.max(...pairs.slice(0, 64 * 30).map(({ ip }) => ip))).toBeLessThan(128);
  expect(pairs).toHaveLength(200 * 30);
});
