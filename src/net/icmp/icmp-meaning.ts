import type { Family } from '../../domain/targets/address.ts';

/** Codes of destination unreachable, RFC 792, RFC 1122 section 3.2.2.1, RFC 1812 section 5.2.7.1. */
const unreachable4: Record<number, string> = {
  0: 'net-unreachable',
  1: 'host-unreachable',
  2: 'proto-unreachable',
  3: 'port-unreachable',
  9: 'admin-prohibited',
  10: 'admin-prohibited',
  13: 'admin-prohibited',
};

/** Codes of destination unreachable, RFC 4443 section 3.1. */
const unreachable6: Record<number, string> = {
  0: 'net-unreachable',
  1: 'admin-prohibited',
  3: 'host-unreachable',
  4: 'port-unreachable',
  5: 'admin-prohibited',
  6: 'admin-prohibited',
};

/** What an ICMP error says about a destination: `admin-prohibited`, ...; null if it is of another kind. */
export function icmpMeaning(family: Family, { type, code }: { type: number; code: number }): string | null {
  if (type === (family === 4 ? 3 : 1)) return (family === 4 ? unreachable4 : unreachable6)[code] ?? null;
  return type === (family === 4 ? 11 : 3) ? 'time-exceeded' : null;
}
