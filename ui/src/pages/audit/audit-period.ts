/** Milliseconds. */
const periods: Record<string, number> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
};

/** Beginning of a period as ISO text; a date or time of the URL as it is, for the server to check. */
export function startOf(period: string, now: number): string {
  return Object.hasOwn(periods, period) ? new Date(now - (periods[period] ?? 0)).toISOString() : period;
}
