/**
 * Divides a rate among scans in proportion to their requested rates, which shares never exceed. Shares are whole
 * packets per second if there is at least one for each.
 *
 * @param asked requested packets per second by scan
 * @param total packets per second of all scans
 */
export function rateShares<K>(asked: ReadonlyMap<K, number>, total: number): Map<K, number> {
  let wanted = 0;
  for (const rate of asked.values()) wanted += rate;
  if (wanted <= total) return new Map(asked);
  return new Map(
    [...asked].map(([id, rate]) => {
      const share = (rate * total) / wanted;
      return [id, Math.floor(share) || share];
    }),
  );
}
