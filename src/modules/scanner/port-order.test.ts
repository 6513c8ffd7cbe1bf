import { expect, it } from 'vitest';
import { randomPermutationKey } from '../../net/packets/frame/permutation.ts';
import { PortOrder } from './port-order.ts';

it('has every port once for every host, the leading ones first', () => {
  const ports = Array.from({ length: 500 }, (_, at) => at + 1);
  const order = new PortOrder(ports, randomPermutationKey(), (port) => port % 10 === 2);
  for (const first of [0, 1, 77, 499]) {
    const visited = ports.map((_, position) => order.at(position, first));
    expect(visited.slice(0, 50).every((port) => port % 10 === 2)).toBe(true);
    expect(new Set(visited).size).toBe(500);
  }
});

it('is one random order where no port leads', () => {
  const key = randomPermutationKey();
  const none = new PortOrder([1, 2, 3, 4, 5], key, () => false);
  const all = new PortOrder([1, 2, 3, 4, 5], key, () => true);
  const read = (order: PortOrder) => [0, 1, 2, 3, 4].map((position) => order.at(position, 3));
  expect(read(none)).toEqual(read(all));
});
