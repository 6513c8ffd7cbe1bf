import { expect, it } from 'vitest';
import { UntriedHosts } from './untried-hosts.ts';

it('reports each reason once, with the first host, how many more and the number of ports', () => {
  const warned: unknown[][] = [];
  const ctx = { warn: (...words: unknown[]) => void warned.push(words) };
  const hosts = new UntriedHosts();
  for (const host of ['10.0.0.1', '10.0.0.2', '10.0.0.3']) hosts.note(host, `no route to ${host}`);
  hosts.note('10.0.0.4', 'interface eth0 is down');
  hosts.note('10.0.0.5', 'interface eth1 is down', 1000);
  hosts.note('10.0.0.6', 'interface eth1 is down', 500);
  hosts.note('10.0.0.7', 'out_of_scope', 1000);
  hosts.warn(ctx);
  expect(warned).toEqual([
    ['not_tried', 'no route to 10.0.0.1; the same for 2 more', '10.0.0.1'],
    ['not_tried', 'interface eth0 is down', '10.0.0.4'],
    ['not_tried', 'interface eth1 is down; the same for 1 more; 1,500 ports not tried', '10.0.0.5'],
  ]);
  hosts.warn(ctx);
  expect(warned).toHaveLength(3);
});
