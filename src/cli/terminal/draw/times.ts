const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** Times further away are printed as they are. */
const relativeUpTo = 7 * day;

/** `now`, `9 min ago`, `in 2 h`, `1 day ago`; more than 7 days away `Nov 21, 14:23 UTC`, of another year with it. */
export function whenText(time: string | number, now: number): string {
  const at = typeof time === 'number' ? time : Date.parse(time);
  if (Number.isNaN(at)) return String(time);
  const away = Math.abs(at - now);
  if (away > relativeUpTo) return calendarText(at, now);
  if (away < second) return 'now';
  const text = largestUnit(away);
  return at > now ? `in ${text}` : `${text} ago`;
}

function largestUnit(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < day) return `${Math.floor(ms / hour)} h`;
  const days = Math.floor(ms / day);
  return `${days} day${days === 1 ? '' : 's'}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Nov 21, 14:23 UTC`, or `Nov 21 2025, 14:23 UTC` if that is not the year of `now`. */
export function calendarText(at: number, now: number): string {
  const date = new Date(at);
  const year = date.getUTCFullYear();
  const ofYear = year === new Date(now).getUTCFullYear() ? '' : ` ${year}`;
  return `${months[date.getUTCMonth()]} ${date.getUTCDate()}${ofYear}, ${date.toISOString().slice(11, 16)} UTC`;
}

/** How long something lasted: `0.4 s`, `14 s`, `8 min 52 s`, `2 h 4 min`, `3 days 1 h`. */
export function spanText(ms: number): string {
  if (ms < 9.95 * second) return `${(Math.max(0, ms) / second).toFixed(1)} s`;
  const seconds = Math.round(ms / second);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return twoUnits(seconds, 60, 'min', 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return twoUnits(minutes, 60, 'h', 'min');
  const hours = Math.round(minutes / 60);
  return twoUnits(hours, 24, hours < 48 ? 'day' : 'days', 'h');
}

function twoUnits(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size;
  return `${Math.floor(amount / size)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}
