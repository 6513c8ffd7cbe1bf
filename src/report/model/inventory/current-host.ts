import type { HostRow } from '../../../domain/result.ts';
import { formatAddress, parseAddress } from '../../../domain/targets/address.ts';
import { oneLine } from '../bounded.ts';

/** The host whose rows are being read: rows of a host follow each other. */
export interface CurrentHost {
  /** From 1. Whatever was counted for this number is of the same host: no set of hosts is needed. */
  number: number;
  host: string;
  /** Its first name. */
  name: string | null;
  network: string;
}

/** Longest host name, characters: that of DNS. */
const maxNameLength = 255;

export function currentHost(number: number, host: string, row: HostRow | null): CurrentHost {
  const name = row?.hostnames?.find((each) => typeof each === 'string' && each !== '');
  return {
    number,
    host,
    name: name === undefined ? null : oneLine(name, maxNameLength),
    network: networkOf(host),
  };
}

/** `192.168.20.0/24`, `2001:db8::/64`; the text itself if it is no address. */
export function networkOf(host: string): string {
  const address = parseAddress(host);
  if (address === null) return oneLine(host, maxNameLength);
  const hostBits = address.family === 4 ? 8n : 64n;
  const first = (address.value >> hostBits) << hostBits;
  return `${formatAddress({ ...address, value: first })}/${address.family === 4 ? 24 : 64}`;
}
