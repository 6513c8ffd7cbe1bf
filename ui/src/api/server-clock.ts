/** Server's clock minus the browser's, milliseconds. */
let offset = 0;
let isMeasured = false;
/** The head of a response has whole seconds and is as old as its way: a smaller difference may be none, milliseconds. */
const leastDifference = 3000;

/** The server's time, milliseconds since 1970: the browser's clock may be wrong. */
export function serverNow(): number {
  return Date.now() + offset;
}

/** As the event stream measures it, to the millisecond. */
export function setClockOffset(milliseconds: number): void {
  offset = milliseconds;
  isMeasured = true;
}

/** Before there is a stream: the first page is right at once. @param header `Date` of a response */
export function noteServerDate(header: string | null): void {
  if (isMeasured || header === null) return;
  const difference = Date.parse(header) - Date.now();
  if (Number.isFinite(difference)) offset = Math.abs(difference) < leastDifference ? 0 : difference;
}
