import { whenText } from './times.ts';

/** `20261122-221447-cd9fca (4 min ago)`: an id begins with the time of its scan. */
export function scanTimeText(id: string, now: number): string {
  const time = timeOfScan(id);
  return time === null ? id : `${id} (${whenText(time, now)})`;
}

/** ISO 8601; null for an id of another form. */
export function timeOfScan(id: string): string | null {
  const parts = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-/.exec(id);
  if (!parts) return null;
  const [, year, month, day, hour, minute, second] = parts;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
