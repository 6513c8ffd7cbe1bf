import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { localAddresses } from './local-addresses.ts';

it('holds loopback whole and every address of every interface, and nothing else', () => {
  const own = localAddresses();
  const listed = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  for (const { address } of listed) expect([address, own.has(address)]).toEqual([address, true]);
  for (const address of ['127.0.0.1', '127.255.255.255', '::1']) expect(own.has(address)).toBe(true);
  for (const address of ['192.0.2.1', '128.0.0.0', '::2']) expect(own.has(address)).toBe(false);
  expect(own.size).toBeLessThanOrEqual(2n ** 24n + 1n + BigInt(listed.length));
});
