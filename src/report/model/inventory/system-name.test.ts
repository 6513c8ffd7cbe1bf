import { expect, it } from 'vitest';
import { systemName } from './system-name.ts';

it.each([
  ['linux', 'debian', '12', 'Debian 12'],
  ['windows', 'windows server', '2022', 'Windows Server 2022'],
  ['linux', null, null, 'Linux'],
  ['linux', '', '', 'Linux'],
  ['cisco ios', null, '15.2', 'Cisco IOS 15.2'],
  ['esxi', 'vmware esxi', '8.0', 'VMware ESXi 8.0'],
  ['freebsd', 'freebsd', '14', 'FreeBSD 14'],
  ['constructor', '__proto__', null, '__proto__'],
])('%s, %s, %s is %s', (family, distribution, version, name) => {
  expect(systemName({ family, distribution, version })).toBe(name);
});
