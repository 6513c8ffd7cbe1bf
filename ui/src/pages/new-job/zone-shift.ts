import type { Zone } from '../../format/times.ts';

const minutesOfDay = 24 * 60;

/** What a clock of one zone shows when that of another one shows a time. */
export interface ShiftedTime {
  /** `01:00` */
  time: string;
  /** Days by which the date differs: -1, 0 or 1. */
  days: number;
}

/**
 * A time of the day in another zone.
 * @param time `02:00`, in `from`
 * @param at decides whether summer time holds, milliseconds
 */
export function shiftTime(time: string, { from, to, at }: { from: Zone; to: Zone; at: number }): ShiftedTime {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const shifted = hour * 60 + minute + offsetMinutes(to, at) - offsetMinutes(from, at);
  const days = Math.floor(shifted / minutesOfDay);
  const rest = shifted - days * minutesOfDay;
  return { time: `${twoDigits(Math.floor(rest / 60))}:${twoDigits(rest % 60)}`, days };
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** What a zone is ahead of UTC. */
function offsetMinutes(zone: Zone, at: number): number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
