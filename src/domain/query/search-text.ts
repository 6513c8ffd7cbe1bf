import { foldText } from './compare-values.ts';
import type { IndexedRow } from './indexed-row.ts';

/** Between two texts; no query contains it. */
const separator = '\n';

/** What free text is searched in, of each record: folded, one field per line. */
export function hostSearchText({ host, name, os, device, mac }: IndexedRow): string {
  return searchTextOf([host, ...name, os, device, ...mac]);
}

export function portSearchText(row: IndexedRow): string {
  const { service, product, vendor, version, cpe, banner, title, tls, certificate } = row;
  return searchTextOf([service, product, vendor, version, cpe, title, ...tls, ...certificate, banner]);
}

export function findingSearchText({ id, finding, action, detected }: IndexedRow): string {
  return searchTextOf([id, finding, ...action, detected]);
}

function searchTextOf(texts: readonly (string | null)[]): string {
  return foldText(texts.filter((text) => text !== null).join(separator));
}

/** Whether free text is found in one of the three texts. */
export function containsText(row: IndexedRow, text: string): boolean {
  const wanted = foldText(text);
  return [hostSearchText, portSearchText, findingSearchText].some((of) => of(row).includes(wanted));
}
