import type { NetworkInterfaceInfo } from 'node:os';
import { expect, it } from 'vitest';
import { attachedNetworks } from './attached-networks.ts';

function entry(cidr: string | null, internal = false): NetworkInterfaceInfo {
  const address = cidr?.split('/')[0] ?? '192.0.2.1';
  return { address, netmask: '', mac: '', family: 'IPv4', internal, cidr } as NetworkInterfaceInfo;
}

it('names the IPv4 networks that can be scanned as a whole, each once', () => {
  const networks = attachedNetworks({
    lo: [entry('127.0.0.1/8', true)],
    eth0: [entry('192.168.20.7/24'), entry('192.168.20.8/24'), entry('fe80::1/64')],
    tun0: [entry('10.8.0.2/32'), entry(null)],
    vpn0: [entry('10.1.2.3/8')],
  });
  expect(networks).toEqual([{ interface: 'eth0', network: '192.168.20.0/24' }]);
});
