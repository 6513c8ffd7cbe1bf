const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Longest accepted duration, in milliseconds: 100 years of 365 days. */
export const maxDuration = 100 * 365 * DAY;

/** Units and their length in milliseconds, longest first: the order within a compound duration. */
const plainUnits = new Map([
  ['w', 7 * DAY],
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
  ['ms', 1],
]);

/** In retention texts a bare `m` could mean month or minute, so it is not accepted. */
const retentionUnits = new Map([
  ['y', 365 * DAY],
  ['mo', 30 * DAY],
  ...[...plainUnits].filter(([unit]) => unit !== 'm'),
]);

const wholeText = /^(?:\d{1,15}(?:\.\d{1,9})?[a-z]{1,2})+$/;
const parts = /(\d{1,15}(?:\.\d{1,9})?)([a-z]{1,2})/g;

/**
 * Parses `500ms`, `3s`, `5m`, `1h30m`, `1.5h`, `30d`, `2w`; with `retention` also `6mo` (30 days each) and `1y` (365
 * days), but not `m`. Units of a compound go from long to short, each at most once.
 *
 * @returns whole milliseconds, or null if the text is not a duration or longer than 100 years
 */
export function parseDuration(text: string, options: { retention?: boolean } = {}): number | null {
  if (!wholeText.test(text)) return null;
  const units = options.retention ? retentionUnits : plainUnits;
  let total = 0;
  let shortest = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of text.matchAll(parts)) {
    const length = units.get(unit as string);
    if (length === undefined || length >= shortest) return null;
    shortest = length;
    total += Number(amount) * length;
  }
  return wholeMilliseconds(total);
}

/** Why a retention text with minutes is rejected, or null if that is not the reason. */
export function ambiguousMinutes(text: string): string | null {
  if (!/\dm(?![os])/.test(text) || parseDuration(text) === null) return null;
  return 'is ambiguous: "m" may mean minutes or months; use s, h, d, w, mo (30 days) or y';
}

/** A duration that rounds to zero is rejected: many settings treat 0 as "no limit". */
function wholeMilliseconds(total: number): number | null {
  const rounded = Math.round(total);
  if (rounded > maxDuration || (rounded === 0 && total > 0)) return null;
  return rounded;
}

/** Formats milliseconds for people, in a form that `parseDuration` reads: `500ms`, `3s`, `1m17.5s`, `1h30m`, `90d`. */
export function formatDuration(ms: number): string {
  let rest = Math.round(Math.max(0, ms));
  if (rest < SECOND) return rest === 0 ? '0s' : `${rest}ms`;
  let text = '';
  for (const unit of ['d', 'h', 'm']) {
    const length = plainUnits.get(unit) as number;
    const amount = Math.floor(rest / length);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * length;
  }
  return rest > 0 ? `${text}${rest / SECOND}s` : text;
}
