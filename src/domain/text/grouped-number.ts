/** `65,536`: as `toLocaleString('en-US')`, whose first call in a process takes 12 ms of processor time. */
export function groupedNumber(number: number): string {
  if (!Number.isSafeInteger(number)) return number.toLocaleString('en-US');
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}
