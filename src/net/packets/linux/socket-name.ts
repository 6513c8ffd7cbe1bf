import type { Family } from '../../../domain/targets/address.ts';

/** struct sockaddr_in (ip(7)) and struct sockaddr_in6 (ipv6(7)). */
export const socketNames = {
  4: { domain: 2, length: 16, addressAt: 4, addressEnd: 8 },
  6: { domain: 10, length: 28, addressAt: 8, addressEnd: 24 },
} as const;

/** Room for each of them. */
export const socketNameBytes = 32;

const scopeAt = 24;

/** @param scopeId interface index of a link-local IPv6 address, else 0 */
export function writeSocketName(
  name: Buffer,
  family: Family,
  address: Uint8Array,
  scopeId: number,
  port: number,
): void {
  const { domain, addressAt } = socketNames[family];
  name.fill(0);
  name.writeUInt16LE(domain, 0);
  name.writeUInt16BE(port, 2);
  name.set(address, addressAt);
  if (family === 6) name.writeUInt32LE(scopeId, scopeAt);
}

export function scopeInName(name: Buffer, family: Family): number {
  return family === 6 ? name.readUInt32LE(scopeAt) : 0;
}
