/**
 * Divides a rate among scans: each gets the same, none more than it requested. So a scan with a low rate keeps it beside one
 * whose rate may rise to the total. Shares are whole packets per second if there is at least one for each.
 *
 * @param asked requested packets per second by scan
 * @param total packets per second of all scans
 */
export function rateShares<K>(asked: ReadonlyMap<K, number>, total: number): Map<K, number> {
  const shares = new Map(asked);
  let left = total;
  let sharers = asked.size;
  for (const [id, rate] of [...asked].sort(([, one], [, other]) => one - other)) {
    const fair = left / sharers;
    const share = Math.min(rate, Math.floor(fair) || fair);
    shares.set(id, share);
    left -= share;
    sharers -= 1;
  }
  return shares;
}
