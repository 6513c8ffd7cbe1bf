import type { Severity } from '../../../domain/finding.ts';
import type { AffectedRange } from '../../model/report.ts';
import { pluralText } from '../../model/report-text.ts';
import { severityLetter } from '../marks.ts';
import { cellText } from '../text.ts';

/** Maximum number of versions on the line. */
const maxVersions = 5;

/**
 * First affected, the versions seen, first fixed: equal steps, not to scale. Of more versions the oldest, the newest
 * and the most frequent ones. Empty if neither end is known.
 */
export function versionLine({ from, fixed, seen }: AffectedRange, severity: Severity): string {
  if (from === null && fixed === null) return '';
  const shown = shownVersions(seen);
  const left = seen.length - shown.length;
  const items = shown.map(
    ({ version, hosts }) =>
      `<li class="se"><b>${cellText(version)} seen, ${pluralText(hosts, 'host')}</b></li>`,
  );
  if (left > 0) items.push(`<li class="se un"><b>and ${left} more</b></li>`);
  const start = from === null ? 'all earlier ones affected' : `${cellText(from)} first affected`;
  const end = fixed === null ? 'no fixed version known' : `${cellText(fixed)} fixed`;
  return (
    `<ol class="vl ${severityLetter[severity]}"><li class="fr${from === null ? ' un' : ''}">${start}</li>${items.join('')}` +
    `<li class="to${fixed === null ? ' un' : ''}">${end}</li></ol>\n`
  );
}

/** In their order. */
function shownVersions(seen: AffectedRange['seen']): AffectedRange['seen'] {
  if (seen.length <= maxVersions) return seen;
  const inner = seen.slice(1, -1);
  const frequent = new Set(inner.toSorted((a, b) => b.hosts - a.hosts).slice(0, maxVersions - 2));
  return seen.filter((version, at) => at === 0 || at === seen.length - 1 || frequent.has(version));
}
