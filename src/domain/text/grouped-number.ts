/** `65,536`: as `toLocaleString('en-US')`, whose first call in a process takes 12 ms of processor time. */
export function groupedNumber(number: number): string {
  if (!Number.isSafeInteger(number)) return number.toLocaleString('en-US');
  const digits = String(Math.abs(number));
  const first = digits.length % 3 || 3;
  const groups = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3));
  return `${number < 0 ? '-' : ''}${groups.join(',')}`;
}
