import type { ReportPages } from '../report-pages.ts';
import { colored, styles } from '../type/styles.ts';
import { type Piece, plain, whole } from '../type/text-layout.ts';

/** Longest address that becomes a link, characters. */
const maxLinkLength = 500;

/** A link to an https address, shown without `https://`; anything else is shown as text. */
export function webLink({ accent }: ReportPages, reference: string): Piece[] {
  const url = httpsAddress(reference);
  if (url === null)
    return [
      whole(reference, styles.monoSmall),
      plain(' shown, not a link: only https is linked', styles.cellThird),
    ];
  const shown = reference.slice('https://'.length).replace(/\/$/, '');
  return [{ ...whole(shown, colored(styles.cell, accent)), link: { url } }];
}

/** ASCII only, as PDF wants it; null for what is not an address of https. */
function httpsAddress(reference: string): string | null {
  if (!/^https:\/\//i.test(reference) || reference.length > maxLinkLength) return null;
  const url = URL.parse(reference);
  return url?.username === '' && url.password === '' ? url.href : null;
}
