/** Packets per second of a scan; `auto` = as the targets and the path to them bear. */
export type PacketRate = number | 'auto';

/** Where a rate `auto` starts, in all and for each host, packets per second. */
export const startRate = 1000;

/** The highest rate that it can reach. @param most highest rate of all scans */
export function ceilingOf(rate: PacketRate, most: number): number {
  return rate === 'auto' ? most : rate;
}
