/**
 * Divides a rate among scans, in proportion to what each asked for and never more than that. Shares are whole packets
 * per second where there is at least one for each.
 *
 * @param asked packets per second by scan
 * @param total packets per second of all together
 */
export function rateShares(asked: ReadonlyMap<string, number>, total: number): Map<string, number> {
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
