const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Wall clock of a time zone. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat;

  /** @param zone IANA name */
  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Wall-clock time minus UTC, milliseconds. */
  offsetAt(time: number): number {
    const whole = Math.floor(time / 1000) * 1000;
    const shown = this.#format.formatToParts(whole);
    const part = (type: string) => Number(shown.find((one) => one.type === type)?.value);
    const { year, month, day } = { year: part('year'), month: part('month'), day: part('day') };
    return Date.UTC(year, month - 1, day, part('hour'), part('minute'), part('second')) - whole;
  }

  /** ISO 8601 with the offset, to the second: `2027-03-28T03:00:00+02:00`. */
  textOf(time: number): string {
    const offset = this.offsetAt(time);
    const minutes = Math.floor(Math.abs(offset) / minuteMs);
    const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
      String(part).padStart(2, '0'),
    );
    return `${new Date(time + offset).toISOString().slice(0, 19)}${offset < 0 ? '-' : '+'}${hours}:${rest}`;
  }

  /** The first millisecond with another offset than that of `from`; `to` must have another one. */
  changeWithin(from: number, to: number): number {
    const before = this.offsetAt(from);
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }

  /** All times at which the clock shows this; in a gap, the times by the offset before and after it. */
  timesOf(wall: number): number[] {
    const offsets = [wall - dayMs, wall + dayMs].map((near) => this.offsetAt(near));
    const times = offsets.map((offset) => wall - offset);
    const real = times.filter((time) => time + this.offsetAt(time) === wall);
    return real.length > 0 ? real : times;
  }
}

/**
 * The times a text can mean: several around clock changes.
 * @param text accepted by `readWall`
 * @param dayEndMs milliseconds to add for a date without a time
 */
export function instantsOf(text: string, clock: WallClock, dayEndMs: number): number[] {
  const wall = readWall(text);
  if (wall === null) return [Number.NaN];
  if (wall.isExact) return [wall.ms];
  return clock.timesOf(wall.isDay ? wall.ms + dayEndMs : wall.ms);
}

/** A wall-clock time. */
interface Wall {
  /** As if it were UTC; with an offset, the actual time. */
  ms: number;
  isDay: boolean;
  isExact: boolean;
}

/** Parses a day, a time, or RFC 3339 with an offset; null if it is none of them. */
export function readWall(text: string): Wall | null {
  const isDay = text.length === 10;
  const isExact = /(?:Z|[+-]\d{2}:\d{2})$/.test(text.slice(10));
  const full = isDay ? `${text}T00:00Z` : `${text.replace(' ', 'T')}${isExact ? '' : 'Z'}`;
  const ms = Date.parse(full);
  if (Number.isNaN(ms)) return null;
  return { ms, isDay, isExact };
}
