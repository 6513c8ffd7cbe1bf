import { describe, expect, it } from 'vitest';
import { hostRow } from '../../fixtures/report-of-rows.ts';
import { currentHost, networkOf } from './current-host.ts';

describe('the network of a host', () => {
  it.each([
    ['192.168.20.14', '192.168.20.0/24'],
    ['10.0.0.255', '10.0.0.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::%eth0/64'],
    ['not an address', 'not an address'],
    ['__proto__', '__proto__'],
  ])('of %s is %s', (host, network) => expect(networkOf(host)).toBe(network));
});

it('the name of a host is its first one, of limited length', () => {
  expect(currentHost(1, '10.0.0.1', hostRow('10.0.0.1', { hostnames: ['', 'a.example', 'b'] })).name).toBe(
    'a.example',
  );
  expect(currentHost(1, '10.0.0.1', hostRow('10.0.0.1')).name).toBeNull();
  expect(currentHost(1, '10.0.0.1', null).name).toBeNull();
  const long = hostRow('10.0.0.1', { hostnames: ['x'.repeat(1_000_000)] });
  expect(currentHost(1, '10.0.0.1', long).name?.length).toBe(255);
});
