import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EndpointOrder } from './endpoint-order.ts';
import { permutation, randomPermutationKey } from './permutation.ts';

function visited(order: EndpointOrder): number[] {
  return Array.from({ length: order.length }, (_, counter) => order.at(counter)).filter((at) => at >= 0);
}

it('visits every endpoint once, those of the leading ports first', () => {
  const shape = fc.record({
    hosts: fc.integer({ min: 1, max: 40 }),
    ports: fc.integer({ min: 1, max: 60 }),
    leading: fc.integer({ min: 0, max: 60 }),
  });
  fc.assert(
    fc.property(shape, ({ hosts, ports, leading }) => {
      const order = new EndpointOrder({ hosts, ports, leading }, randomPermutationKey());
      const endpoints = visited(order);
      expect(new Set(endpoints).size).toBe(endpoints.length);
      expect(endpoints).toHaveLength(hosts * ports);
      const first = endpoints.slice(0, hosts * Math.min(leading, ports));
      expect(first.every((endpoint) => endpoint % ports < leading)).toBe(true);
      expect(order.length).toBeLessThanOrEqual(4 * Math.max(2, hosts * ports));
    }),
  );
});

it('is the permutation of all endpoints where no port leads: positions of earlier checkpoints hold', () => {
  const key = randomPermutationKey();
  const order = new EndpointOrder({ hosts: 7, ports: 100, leading: 0 }, key);
  expect(visited(order)).toEqual([...permutation(700, key)]);
  expect([order.head, order.length]).toEqual([0, 1024]);
});
