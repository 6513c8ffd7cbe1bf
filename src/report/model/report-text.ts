import type { Severity } from '../../domain/finding.ts';
import type { Protocol } from '../../domain/host.ts';
import { monthNames } from '../../domain/time/month-names.ts';

/** Stands for a number or text that is not known; what was counted is `0`. */
export const unknownText = '–';

const minus = '−';
const wholeNumber = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `65,536`; `–` for unknown. */
export function numberText(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return unknownText;
  return wholeNumber.format(count).replace('-', minus);
}

/** `1 host`, `1,200 hosts`. */
export function pluralText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

const smallNumbers = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];

/** A number at the start of a sentence, in words up to ten: `Two updates`, `12 updates`. */
export function countedText(count: number, one: string, many = `${one}s`): string {
  return `${smallNumbers[count] ?? numberText(count)} ${count === 1 ? one : many}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listText(items: readonly string[]): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

/** `58 %`. Less than all is never `100 %`, more than nothing never `0 %`; `–` if there is no whole. */
export function percentText(part: number, whole: number): string {
  if (!(whole > 0) || !Number.isFinite(part)) return unknownText;
  const rounded = Math.round((part / whole) * 100);
  if (rounded === 0 && part > 0) return '< 1 %';
  if (rounded >= 100 && part < whole) return '> 99 %';
  return `${numberText(rounded)} %`;
}

/** `+3`, `−4` with a true minus, `±0`; `–` for unknown. */
export function changeText(change: number | null): string {
  if (change === null || !Number.isFinite(change)) return unknownText;
  if (change === 0) return '±0';
  return change > 0 ? `+${numberText(change)}` : numberText(change);
}

/** EPSS as `0.94`; a score below 0.005 is `< 0.01`. */
export function epssText(score: number | null | undefined): string {
  if (score === null || score === undefined || !Number.isFinite(score)) return unknownText;
  return score > 0 && score < 0.005 ? '< 0.01' : score.toFixed(2);
}

/** CVSS as `9.8`. */
export function cvssText(score: number | null | undefined): string {
  if (score === null || score === undefined || !Number.isFinite(score)) return unknownText;
  return score.toFixed(1);
}

/** A confidence of 0..1 as `95 %`. */
export function confidenceText(confidence: number | null): string {
  return confidence === null ? unknownText : percentText(confidence, 1);
}

/** Null for anything but a time that JavaScript can represent. */
function parseTime(iso: string | null): Date | null {
  const time = new Date(iso ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

function twoDigits(amount: number): string {
  return String(amount).padStart(2, '0');
}

/** `November 21, 2026` in UTC; `–` for unknown, here and below. */
export function longDateText(iso: string | null): string {
  const time = parseTime(iso);
  if (time === null) return unknownText;
  return `${monthNames[time.getUTCMonth()]} ${time.getUTCDate()}, ${time.getUTCFullYear()}`;
}

/** `Nov 21, 2026` in UTC. */
export function dateText(iso: string | null): string {
  const time = parseTime(iso);
  if (time === null) return unknownText;
  return `${monthNames[time.getUTCMonth()]?.slice(0, 3)} ${time.getUTCDate()}, ${time.getUTCFullYear()}`;
}

/** `14:23:10` in UTC. */
export function clockText(iso: string | null): string {
  const time = parseTime(iso);
  if (time === null) return unknownText;
  return [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].map(twoDigits).join(':');
}

/** `Nov 21, 2026, 14:23 UTC` */
export function dateTimeText(iso: string | null): string {
  return parseTime(iso) === null ? unknownText : `${dateText(iso)}, ${clockText(iso).slice(0, 5)} UTC`;
}

/** `Nov 21, 2026, 14:14:18 to 14:23:10 UTC`, with both dates if they differ. */
export function timeSpanText(from: string | null, to: string | null): string {
  if (parseTime(from) === null || parseTime(to) === null) return unknownText;
  const end = dateText(from) === dateText(to) ? clockText(to) : `${dateText(to)}, ${clockText(to)}`;
  return `${dateText(from)}, ${clockText(from)} to ${end} UTC`;
}

/** `0.4 s`, `9 s`, `8 min 52 s`, `2 h 5 min`, `3 d 4 h`: the two largest units. */
export function secondsText(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds) || seconds < 0) return unknownText;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 3599.5) return unitsText(Math.round(seconds), 60, 'min', 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return unitsText(minutes, 60, 'h', 'min');
  return unitsText(Math.round(seconds / 3600), 24, 'd', 'h');
}

function unitsText(amount: number, ratio: number, large: string, small: string): string {
  const rest = amount % ratio;
  const whole = `${numberText(Math.floor(amount / ratio))} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

/** `443/tcp`; `host` for a finding of the host as a whole. */
export function portText(port: number | null, protocol: Protocol | null): string {
  if (port === null) return 'host';
  return protocol === null ? String(port) : `${port}/${protocol}`;
}

/** `192.168.20.14:22`, `[2001:db8::1]:22`; only the address without a port. */
export function endpointText(host: string, port: number | null): string {
  if (port === null) return host;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `Critical` */
export function severityWord(severity: Severity): string {
  return capitalText(severity);
}

/** A text at the start of a line. */
export function capitalText(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Longest text of a target within an anchor, characters. */
const maxAnchorLength = 200;

/**
 * Letters, digits, `-` and `.` only, so that nothing needs escaping: colons become `-`. Different addresses stay
 * different, since they have no capital letters and no hyphens: `X` and hex digits stand for all other characters.
 */
function hostPart(host: string): string {
  return host
    .slice(0, maxAnchorLength)
    .replace(/[^0-9a-z.:]/g, (character) => `X${character.charCodeAt(0).toString(16)}-`)
    .replaceAll(':', '-');
}

/** `h-192.168.20.14`, `h-2001-db8--1` */
export function hostAnchor(host: string): string {
  return `h-${hostPart(host)}`;
}

/** `h-192.168.20.14-22-tcp` */
export function portAnchor(host: string, port: number, protocol: Protocol): string {
  return `${hostAnchor(host)}-${port}-${protocol === 'udp' ? 'udp' : 'tcp'}`;
}

/** `f-CVE-2024-6387`. IDs that differ in other characters only may get the same. */
export function kindAnchor(id: string): string {
  return `f-${id.slice(0, maxAnchorLength).replace(/[^0-9A-Za-z.-]/g, '-')}`;
}

/** `fix-2` */
export function fixAnchor(rank: number): string {
  return `fix-${rank}`;
}
