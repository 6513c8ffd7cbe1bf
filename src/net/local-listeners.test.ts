import { expect, it } from 'vitest';
import { AddressSet } from '../domain/targets/address-set.ts';
import { localAddresses } from './local-addresses.ts';
import { localListeners } from './local-listeners.ts';

it('knows a listener by its address and port', () => {
  const isOwn = localListeners([{ host: '127.0.0.1', port: 8080 }]);
  expect(isOwn('127.0.0.1', 8080)).toBe(true);
  expect(isOwn('127.0.0.1', 8081)).toBe(false);
  expect(isOwn('127.0.0.2', 8080)).toBe(false);
  expect(localListeners([])('127.0.0.1', 8080)).toBe(false);
});

it.each(['0.0.0.0', '::', 'localhost'])('takes %s for every address of this machine', (host) => {
  const isOwn = localListeners([{ host, port: 8080 }]);
  const single = localAddresses().intervals.filter(({ first, last }) => first === last);
  const own = single.map((interval) => AddressSet.of([interval]).at(0n));
  for (const address of [...own, '127.4.5.6', '::1'])
    expect([address, isOwn(address, 8080)]).toEqual([address, true]);
  expect(isOwn('192.0.2.1', 8080)).toBe(false);
});

it('does not mind the zone of a link-local address', () => {
  const isOwn = localListeners([{ host: 'fe80::1', port: 80 }]);
  expect(isOwn('fe80::1%eth0', 80)).toBe(true);
  expect(isOwn('fe80::2%eth0', 80)).toBe(false);
});
