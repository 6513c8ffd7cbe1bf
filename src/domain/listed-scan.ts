import type { FailureCode, Scan } from './scan.ts';

/** A scan as lists have it; its detail has all targets, stages, warnings, notifications and the history of the rate. */
export type ListedScan = Omit<Scan, 'error' | 'warnings' | 'notifications' | 'stages'> & {
  /** Number of targets and of tags; absent where the list has all of them, uncut. */
  targets_total?: number;
  tags_total?: number;
  error: { code: FailureCode } | null;
  warnings_total: number;
};

/** Maximum targets of a listed scan. */
const maxListedTargets = 10;
/** Maximum length of the name of a listed scan, bytes of JSON: with these a page of 50 scans stays below 100 KiB. */
const maxListedNameBytes = 240;
/** Maximum length of all its targets, bytes of JSON; the longest host name fits. */
const maxListedTargetsBytes = 280;
/** Maximum length of all its tags, bytes of JSON. */
const maxListedTagsBytes = 160;

export function listedName(name: string | null): string | null {
  return name === null ? null : shortened(name, maxListedNameBytes);
}

/** The first targets. */
export function listedTargets(targets: readonly string[]): string[] {
  return firstWithin(targets.slice(0, maxListedTargets), maxListedTargetsBytes);
}

/** The first tags. */
export function listedTags(tags: readonly string[]): string[] {
  return firstWithin(tags, maxListedTagsBytes);
}

/** Whether all of some texts are shown, uncut. */
export function isWhole(shown: readonly string[], all: readonly string[]): boolean {
  return shown.length === all.length && shown[0] === all[0];
}

/** @returns at least one: the first is cut if it is too long by itself */
function firstWithin(texts: readonly string[], maxBytes: number): string[] {
  const shown: string[] = [];
  let left = maxBytes;
  for (const text of texts) {
    left -= jsonBytes(text) + 1;
    if (left < 0) break;
    shown.push(text);
  }
  return shown.length > 0 ? shown : texts.slice(0, 1).map((text) => shortened(text, maxBytes - 1));
}

/** Ends with `…` if it is cut. */
function shortened(text: string, maxBytes: number): string {
  if (jsonBytes(text) <= maxBytes) return text;
  let left = maxBytes - jsonBytes('…');
  let kept = '';
  for (const character of text) {
    left -= jsonBytes(character) - 2;
    if (left < 0) break;
    kept += character;
  }
  return `${kept}…`;
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
