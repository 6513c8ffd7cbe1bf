import { compileScope } from './scope.ts';

/** Blocks of the IANA registries of special-purpose addresses that are not globally reachable, or stand for others. */
const special = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
  // Teredo, benchmarks, ORCHID; documentation; 6to4, which holds an IPv4 address.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];

const reachable = compileScope({ allow: ['0.0.0.0/0', '2000::/3'], deny: special });

/** Whether an address is one of the public Internet; false for texts that are not an address. */
export function isPublicAddress(address: string): boolean {
  return reachable.permits(address);
}
