import type { FindingKind, KindEvidence, Report } from '../../model/report.ts';
import {
  cvssText,
  endpointText,
  epssText,
  fixAnchor,
  numberText,
  pluralText,
} from '../../model/report-text.ts';
import { classCountsText, exploitedHtml, severityLabel } from '../marks.ts';
import { sectionEnd, sectionStart } from '../page.ts';
import { paperLines } from '../style.ts';
import { cellText, code, htmlLines, htmlText, referenceLink } from '../text.ts';
import { backport, remediation } from './fix-list.ts';
import { placesList } from './places.ts';
import { versionLine } from './version-line.ts';

/** Equal findings once each, with what shows them and where. */
export function* findingsSection(report: Report): Generator<string> {
  const { kinds, leads } = report;
  yield sectionStart('findings', 'Findings', leads.findings);
  if (kinds.length > 0) yield listHead;
  for (const kind of kinds) yield kindEntry(kind);
  yield sectionEnd;
}

const listHead =
  '<div class="hd fi" aria-hidden="true"><span></span><span>Severity</span><span>ID and title</span><span></span><span class="r">Hosts</span>' +
  '<span class="r">EPSS</span><span class="r">CVSS</span></div>\n';

function kindEntry(kind: FindingKind): string {
  const { anchor, id, title, severity, exploited, epss, cvss, hosts } = kind;
  return `<details class="li fi${exploited ? ' kev' : ''}"><summary>${severityLabel(severity)}<span>${code(id)} <b>${cellText(title)}</b></span><span class="q">${
    exploited ? exploitedHtml : '<b></b>'
  }<span class="r">${numberText(hosts)}<u> ${hosts === 1 ? 'host' : 'hosts'}</u></span><span class="r"><u>EPSS </u>${epssText(epss)}</span><span class="r"><u>CVSS </u>${cvssText(cvss?.score)}</span></span></summary>
<div class="in" id="${anchor}">${kindDetail(kind)}</div></details>
`;
}

function kindDetail(kind: FindingKind): string {
  const { versions, affected, evidence, evidenceLeft, places, placesLeft, networks } = kind;
  const range = versions === null ? '' : versionLine(versions, kind.severity);
  const text = range === '' && affected !== null ? `<p>Affected: ${code(affected)}</p>\n` : '';
  const moreEvidence =
    evidenceLeft > 0
      ? `<p class="lb">Other evidence on ${pluralText(evidenceLeft, 'more place')}, in the JSON format.</p>\n`
      : '';
  return (
    range +
    text +
    backport(kind) +
    remediation(kind.remediation) +
    evidence.map(evidenceBlock).join('') +
    moreEvidence +
    placesList(places, placesLeft, networks) +
    factLine(kind) +
    referenceList(kind.references)
  );
}

function factLine(kind: FindingKind): string {
  const { counts, hosts, cvss, cpe, foundBy, action } = kind;
  const facts = [
    `${pluralText(counts.all, 'finding')} on ${pluralText(hosts, 'host')}: ${classCountsText(counts)}`,
    cvss === null
      ? 'without CVSS'
      : `CVSS ${cellText(cvss.version)}: ${cvssText(cvss.score)} ${code(cvss.vector)}`,
    cpe === null ? '' : code(cpe),
    foundBy.length === 0 ? '' : `found by ${foundBy.map(cellText).join(', ')}`,
    `<a href="#${fixAnchor(action)}">fix ${action}</a>`,
  ];
  return `<p class="t2">${facts.filter((fact) => fact !== '').join(' · ')}</p>\n`;
}

function referenceList(references: readonly string[]): string {
  if (references.length === 0) return '';
  return `<p>${references.map(referenceLink).join('<br>')}</p>`;
}

function evidenceBlock({ text, length, place, count, match }: KindEvidence): string {
  if (text === '') return '';
  const same = count > 1 ? `, the same ${numberText(count)} times` : '';
  const lines = text.trimEnd().split(/\r\n|[\r\n]/).length;
  const paper = lines > paperLines ? `<span class="po">, first lines</span>` : '';
  const left =
    length > text.length ? `<small> … ${numberText(length - text.length)} more characters</small>` : '';
  return `<p class="lb">Evidence, ${htmlText(endpointText(place.host, place.port))}${same}${paper}</p>
<pre>${markedText(text, match)}${left}</pre>
`;
}

/** Text of a target with what matched in it. */
function markedText(text: string, match: KindEvidence['match']): string {
  if (match === null) return htmlLines(text.trimEnd());
  const end = match.at + match.length;
  return `${htmlLines(text.slice(0, match.at))}<mark>${htmlLines(text.slice(match.at, end))}</mark>${htmlLines(text.slice(end).trimEnd())}`;
}
