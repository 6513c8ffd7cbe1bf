import type { ReactNode } from 'react';
import { absent } from '../../format/numbers.ts';
import {
  calendarDate,
  clockTime,
  dateTime,
  exactTime,
  type Moment,
  relativeTime,
} from '../../format/times.ts';
import { useNow } from './now.ts';
import { useTimeZone } from './time-zone.ts';

export interface TimeTextProps {
  /** ISO text or milliseconds; `–` when absent. */
  at: Moment;
  /** `9 min ago`, up to seven days, then the date and time (`short`: `Nov 14`); the exact time is the tooltip. */
  relative?: boolean | 'short';
  /** Otherwise `Sat, Nov 21, 14:23 UTC`. `time` is `14:23:10 UTC`, `exact` has year and seconds. */
  form?: 'date-time' | 'time' | 'date' | 'exact';
}

/** A point in time, in the zone the reader chose, by the server's clock. */
export function TimeText({ at, relative, form = 'date-time' }: TimeTextProps): ReactNode {
  const zone = useTimeZone();
  const now = useNow();
  const exact = exactTime(at, zone);
  if (exact === absent) {
    return <span className="text-text-3">{absent}</span>;
  }
  return (
    <time
      dateTime={new Date(at as string | number).toISOString()}
      title={exact}
      className="whitespace-nowrap"
    >
      {relative
        ? relativeTime(at, now, zone, relative === 'short' ? 'short' : 'date-time')
        : written(form, at, now, zone)}
    </time>
  );
}

function written(form: NonNullable<TimeTextProps['form']>, at: Moment, now: number, zone: string): string {
  switch (form) {
    case 'time':
      return clockTime(at, zone);
    case 'date':
      return calendarDate(at, now, zone);
    case 'exact':
      return exactTime(at, zone);
    default:
      return dateTime(at, now, zone);
  }
}
